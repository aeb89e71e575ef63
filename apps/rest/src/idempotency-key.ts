import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { keyCharactersMax, readIdempotencyKey, type IdempotencyKey } from '@gateway/core'
import { failure, type Failure } from './answer.ts'
import { given } from './given.ts'

/** The `Idempotency-Key` header; of several the first. A key that is UTF-8 is the same as elsewhere in a body. */
export function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  if (request.headers[name] === undefined) return undefined
  const first = firstOf(request.rawHeaders)
  if (/^[\x20-\x7e]*$/.test(first)) return first
  const bytes = Buffer.from(first, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : first
}

/** `headersDistinct` would make an object of all headers: 1 µs. */
function firstOf(rawHeaders: readonly string[]): string {
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === name.length && rawHeaders[i]?.toLowerCase() === name) return rawHeaders[i + 1] ?? ''
  return ''
}

const name = 'idempotency-key'

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
