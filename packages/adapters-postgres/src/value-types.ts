import { types } from 'pg'
import { hash } from 'node:crypto'

type Parser = (text: string) => unknown

const safeInteger = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`a bigint beyond 2^53: ${text}`)
  return value
}

const readTime = types.getTypeParser(types.builtins.TIMESTAMPTZ) as Parser
const milliseconds = (text: string): number => {
  const parsed = readTime(text)
  return parsed instanceof Date ? parsed.getTime() : Number(parsed)
}

const parsers = new Map<number, Parser>([
  [types.builtins.INT8, safeInteger],
  [types.builtins.TIMESTAMPTZ, milliseconds],
])

/**
 * How values of the database become values of JavaScript on every connection: an int8 is a number, and one beyond 2^53
 * throws instead of losing digits; a timestamptz is milliseconds since 1970, cut to the millisecond.
 */
export const valueTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary'): Parser => {
    const own = format === 'binary' ? undefined : parsers.get(oid)
    return own ?? parserOf(oid, format)
  },
}

const parserOf = types.getTypeParser as (oid: number, format?: 'text' | 'binary') => Parser

/** 128 bits of SHA-256, as PostgreSQL writes a uuid. */
export function digest(text: string): string {
  const hex = hash('sha256', text)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
