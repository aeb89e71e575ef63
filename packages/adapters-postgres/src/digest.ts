import { createHash } from 'node:crypto'

/** 128 bits of SHA-256, in the form of a uuid. */
export function digest(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
