import { type IdempotencyKey, keyCharactersMax, readIdempotencyKey } from '@gateway/core/client-requests'
import type { ParsedBody } from '@gateway/server'
import { failure, type Failure } from './answer.ts'
import { describeValue } from './received.ts'

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
