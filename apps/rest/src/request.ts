import { type IdempotencyKey, keyCharactersMax, readIdempotencyKey } from '@gateway/core/client-requests'
import type { ParsedBody } from '@gateway/server'
import { failure, type Failure } from './answer.ts'
import { given } from './given.ts'

/** A key that can be used, or what is wrong with it (ruling 1.24). */
export function readKey(header: string | undefined): IdempotencyKey | undefined | Failure {
  const key = readIdempotencyKey(header)
  if (key !== 'unusable') return key
  return failure(
    'invalid-idempotency-key',
    `Idempotency-Key must be 1 to ${keyCharactersMax} printable characters; got ${given(header)}.`,
  )
}

/** Its key has the answer to another request (ruling 1.24). */
export const anotherRequest = failure('idempotency-key-reused', 'The Idempotency-Key was used for another request.')

/**
 * How many things of one kind a body is for: those that need this character each, which JSON has no other way to write.
 * A text may have more of it.
 */
function countOf(character: ',' | '{', sent: string | ParsedBody): number {
  const text = typeof sent === 'string' ? sent : written(sent.parsed)
  let count = 0
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++
  return count
}

/** What is nested too deep to be written is refused for its shape, which is no work. */
function written(parsed: unknown): string {
  try {
    return JSON.stringify(parsed)
  } catch {
    return ''
  }
}

/** Of an array of ids, which has one more than commas. */
export const idsIn = (sent: string | ParsedBody): number => countOf(',', sent) + 1
/** Of recipients, an object each in the object of the send. */
export const recipientsIn = (sent: string | ParsedBody): number => Math.max(1, countOf('{', sent) - 1)
