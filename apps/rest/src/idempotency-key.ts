import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { keyCharactersMax, readIdempotencyKey, type IdempotencyKey } from '@gateway/core'
import { failure, type Failure } from './answer.ts'
import { given } from './given.ts'

/** The `Idempotency-Key` header; of several the first. A key that is UTF-8 is the same as elsewhere in a body. */
export function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  if (request.headers['idempotency-key'] === undefined) return undefined
  // Made of all headers at the first look: 0.7 µs.
  const [first = ''] = request.headersDistinct['idempotency-key'] ?? []
  const bytes = Buffer.from(first, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : first
}

/** A key that can be used, or what is wrong with it (ruling 1.24). */
export function readKey(header: string | undefined): IdempotencyKey | undefined | Failure {
  const key = readIdempotencyKey(header)
  if (key !== 'unusable') return key
  return failure(422, `Idempotency-Key must be 1 to ${keyCharactersMax} printable characters; got ${given(header)}.`)
}

/** Its key has the answer to another request (ruling 1.24). */
export const anotherRequest = failure(422, 'The Idempotency-Key was used for another request.')
