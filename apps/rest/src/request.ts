import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { mediaType, readBody, type BodyPlace, type ParsedBody } from '@gateway/server'
import { failure, overloaded, type Failure } from './answer.ts'
import { short } from './given.ts'

/** 200kb (spec 7.1); exactly so many pass (ruling 2.3). */
const bodyBytesMax = 204_800

/**
 * The key in an `AUTHORIZATION` header: its only word, or the one after a prefix word (ruling 2.2). Undefined: there is no
 * header, or an empty one.
 */
export function keyOf(request: IncomingMessage): string | undefined {
  const given = request.headers.authorization?.trim()
  if (given === undefined || given === '') return undefined
  const space = given.indexOf(' ')
  return space === -1 ? given : given.slice(space + 1).trimStart()
}

/**
 * The body of a POST as text, or parsed if that was done before it came to us; or what is wrong with it, in the ruled order
 * (ruling 2.3). No body at all, of whatever type, is `whenEmpty` where that is given. Undefined: the client has gone.
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
