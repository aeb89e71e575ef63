import { type IdempotencyKey, keyCharactersMax, readIdempotencyKey } from '@gateway/core/client-requests'
import type { ParsedBody } from '@gateway/server'
import { type Instant, parseMinute } from '@gateway/core/time'
import { failure, type Failure } from './answer.ts'

/** Reads an idempotency key. Returns a failure if it cannot be used (ruling 1.24). */
export function readKey(header: string | undefined): IdempotencyKey | undefined | Failure {
  const key = readIdempotencyKey(header)
  if (key !== 'unusable') return key
  return failure(
    'invalid-idempotency-key',
    `Idempotency-Key must be 1 to ${keyCharactersMax} printable characters; got ${describeValue(header)}.`,
  )
}

/** Refusal of a key that was used for another request (ruling 1.24). */
export const anotherRequest = failure('idempotency-key-reused', 'The Idempotency-Key was used for another request.')

/**
 * Estimates the number of items in a body by counting a character that belongs to each item. Texts may contain this
 * character too, so the estimate may be too high.
 */
function countOf(character: ',' | '{', sent: string | ParsedBody): number {
  const text = typeof sent === 'string' ? sent : written(sent.parsed)
  let count = 0
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++
  return count
}

/** Serializes a parsed body. One that is nested too deep to serialize counts as empty, because it will be refused. */
function written(parsed: unknown): string {
  try {
    return JSON.stringify(parsed)
  } catch {
    return ''
  }
}

/** Estimates the number of ids in an array, which has one more id than commas. */
export const idsIn = (sent: string | ParsedBody): number => countOf(',', sent) + 1
/** Estimates the number of recipients, each of which is an object inside the object of the send. */
export const recipientsIn = (sent: string | ParsedBody): number => Math.max(1, countOf('{', sent) - 1)

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
