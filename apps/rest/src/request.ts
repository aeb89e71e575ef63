import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { type IdempotencyKey, keyCharactersMax, readIdempotencyKey } from '@gateway/core'
import { type BodyPlace, mediaType, type ParsedBody, readBody } from '@gateway/server'
import { failure, type Failure, overloaded } from './answer.ts'
import { given, short } from './given.ts'

/** 200kb (spec 7.1); exactly so many pass (ruling 2.3). */
const bodyBytesMax = 204_800

/**
 * The key in an `AUTHORIZATION` header: its only word, or the one after a prefix word (ruling 2.2). Undefined: there is
 * no header, or an empty one.
 */
export function keyOf(request: IncomingMessage): string | undefined {
  const given = request.headers.authorization?.trim()
  if (given === undefined || given === '') return undefined
  const space = given.indexOf(' ')
  return space === -1 ? given : given.slice(space + 1).trimStart()
}

/**
 * The body of a POST as text, or parsed if that was done before it came to us; or what is wrong with it, in the ruled
 * order (ruling 2.3). No body at all, of whatever type, is `whenEmpty` where that is given. Undefined: the client has
 * gone.
 */
export async function readJson(
  request: IncomingMessage,
  place: BodyPlace,
  whenEmpty?: string,
): Promise<string | ParsedBody | Failure | undefined> {
  const body = await readBody(request, bodyBytesMax, place)
  if (body === 'aborted') return undefined
  if (body === 'overloaded') return overloaded
  if (body === 'too-large') return tooLarge
  if (whenEmpty !== undefined && 'length' in body && body.length === 0) return whenEmpty
  if (mediaType(request) !== 'application/json') return wrongType(request.headers['content-type'])
  if (request.headers['content-encoding'] !== undefined)
    return failure(
      'encoded-body',
      `The body must not have a content encoding; got ${short(request.headers['content-encoding'])}.`,
    )
  if ('parsed' in body) return body
  return isUtf8(body)
    ? withoutMark(body.toString())
    : failure('not-json', 'The body is not valid JSON: it is not UTF-8.')
}

export const tooLarge = failure('body-too-large', `The body is larger than ${bodyBytesMax} bytes.`)

export const wrongType = (contentType: string | undefined): Failure =>
  failure(
    'wrong-content-type',
    `The content type must be application/json; got ${contentType ? short(contentType) : 'none'}.`,
  )

// Some platforms put a byte order mark before every text that they write as UTF-8.
const withoutMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text)

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
