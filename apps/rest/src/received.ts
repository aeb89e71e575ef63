import { type Instant, parseMinute } from '@gateway/core/time'

const lengthMax = 60

/** Describes a received value in a refusal. The description is short for any value. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(short(value))
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'a number that is too large'
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'object' ? (writtenAs(value) ?? 'an object') : 'nothing'
}

/** Describes only the type of a received value, for a value of the wrong type. */
export function describeType(value: unknown): string {
  if (typeof value === 'string') return 'a string'
  if (typeof value === 'number') return 'a number'
  return Array.isArray(value) ? 'an array' : describeValue(value)
}

/** Shortens a text that may be long, such as the value of a header. */
export const short = (text: string): string => (text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text)

/**
 * Returns the written form of a number that `parseWholeNumbers` has replaced because it is not written as a whole
 * number.
 */
const writtenAs = (value: object): string | undefined =>
  'writtenAs' in value && typeof value.writtenAs === 'string' ? short(value.writtenAs) : undefined

/** Returns the text of an optional field, or undefined if it is missing, null or blank (ruling 2.4). */
export const filled = (value: string | null | undefined): string | undefined =>
  value === null || value?.trim() === '' ? undefined : value

/** Reads a time YYYYMMDDHHmm, which may be a string or a number. */
export function readTime(value: string | number | null | undefined): Instant | undefined | 'malformed' {
  const text = filled(typeof value === 'number' ? String(value) : value)
  return text === undefined ? undefined : (parseMinute(text) ?? 'malformed')
}
