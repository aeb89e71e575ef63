import { types } from 'pg'

const safeInteger = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`a bigint beyond 2^53: ${text}`)
  return value
}

const milliseconds = (text: string): number => {
  const parsed: unknown = types.getTypeParser(1184)(text)
  return parsed instanceof Date ? parsed.getTime() : Number(parsed)
}

type Parser = (text: string) => unknown
const parsers = new Map<number, Parser>([
  [20, safeInteger], // int8
  [1184, milliseconds], // timestamptz
])

/**
 * How values of the database become values of JavaScript on every connection: an int8 is a number, and one beyond 2^53
 * throws instead of losing digits; a timestamptz is milliseconds since 1970, cut to the millisecond.
 */
export const valueTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary'): Parser => {
    const own = format === 'binary' ? undefined : parsers.get(oid)
    return own ?? (types.getTypeParser(oid, format as 'text') as Parser)
  },
}
