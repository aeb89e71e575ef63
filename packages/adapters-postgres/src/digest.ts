import { hash } from 'node:crypto'

/** 128 bits of SHA-256, as PostgreSQL writes a uuid. */
export function digest(text: string): string {
  const hex = hash('sha256', text)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
