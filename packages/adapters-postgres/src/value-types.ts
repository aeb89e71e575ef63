import { types } from 'pg'
import { hash } from 'node:crypto'

type Parser = (text: string) => unknown

const safeInteger = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`the bigint ${text} is beyond 2^53`)
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
 * Conversions of database values to JavaScript values on every connection. An int8 becomes a number, and throws beyond
 * 2^53 in place of losing digits. A timestamptz becomes milliseconds since 1970, truncated.
 */
export const valueTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary'): Parser => {
    const own = format === 'binary' ? undefined : parsers.get(oid)
    return own ?? parserOf(oid, format)
  },
}

const parserOf = types.getTypeParser as (oid: number, format?: 'text' | 'binary') => Parser

/** Returns 128 bits of SHA-256 as the text of a uuid. */
export function digest(text: string): string {
  const hex = hash('sha256', text)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
