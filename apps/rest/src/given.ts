import { type Instant, parseMinute } from '@gateway/core/time'

const lengthMax = 60

/** What a client gave, as a refusal names it: short, whatever came. */
export function given(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(short(value))
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'a number that is too large'
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'object' ? (writtenAs(value) ?? 'an object') : 'nothing'
}

/** The type alone, of what has a wrong one. */
export function givenType(value: unknown): string {
  if (typeof value === 'string') return 'a string'
  if (typeof value === 'number') return 'a number'
  return Array.isArray(value) ? 'an array' : given(value)
}

/** A text that may be long, such as the value of a header. */
export const short = (text: string): string => (text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text)

/** Of what `parseWholeNumbers` puts in the place of a number that is not written as a whole one. */
const writtenAs = (value: object): string | undefined =>
  'writtenAs' in value && typeof value.writtenAs === 'string' ? short(value.writtenAs) : undefined

/** The text of an optional field; undefined: null and a blank one count as left out (ruling 2.4). */
export const filled = (value: string | null | undefined): string | undefined =>
  value === null || value?.trim() === '' ? undefined : value

/** A time YYYYMMDDHHmm, which may be a number. */
export function readTime(value: string | number | null | undefined): Instant | undefined | 'malformed' {
  const text = filled(typeof value === 'number' ? String(value) : value)
  return text === undefined ? undefined : (parseMinute(text) ?? 'malformed')
}
