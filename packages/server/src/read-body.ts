import type { IncomingMessage } from 'node:http'
import type { BodyPlace } from './body-memory.ts'
import { ByteCollector } from './byte-collector.ts'

/** A body that a parser of the outer app has parsed; its bytes are gone. */
export interface ParsedBody {
  readonly parsed: unknown
}

/**
 * The body as sent, or what an outer parser left of it. 'too-large' beyond `maxBytes`, told before the rest has come; 'overloaded': no
 * room in `place`, where the bytes stay until the caller releases it; 'aborted': the client has gone. The rest is thrown away.
 */
export const readBody = async (
  request: IncomingMessage,
  maxBytes: number,
  place: BodyPlace,
): Promise<Buffer | ParsedBody | 'too-large' | 'overloaded' | 'aborted'> => {
  const announced = Number(request.headers['content-length'] ?? NaN)
  if (request.readableEnded) return announced > maxBytes ? 'too-large' : leftOf(request, announced, maxBytes)
  if (request.destroyed) return 'aborted'
  if (announced > maxBytes) {
    request.on('error', ignore).resume()
    return 'too-large'
  }
  return collect(request, maxBytes, announced <= smallBytes ? undefined : place)
}

/** A body that announces no more is not counted: node holds as much of every connection anyway. */
export const smallBytes = 16_384

/** Parsers return an object for an empty body, too. */
const leftOf = (request: ReadBefore, announced: number, maxBytes: number): Buffer | ParsedBody | 'too-large' => {
  const left = announced === 0 ? '' : (request.rawBody ?? request.body)
  if (left === undefined) throw new Error('The body of this request was read before, and nothing of it was kept.')
  if (typeof left !== 'string' && !(left instanceof Uint8Array)) return { parsed: left }
  const bytes =
    typeof left === 'string' ? Buffer.from(left) : Buffer.from(left.buffer, left.byteOffset, left.byteLength)
  return bytes.length > maxBytes ? 'too-large' : bytes
}

type ReadBefore = IncomingMessage & { readonly rawBody?: unknown; readonly body?: unknown }

const collect = (request: IncomingMessage, maxBytes: number, place: BodyPlace | undefined) =>
  new Promise<Buffer | 'too-large' | 'overloaded' | 'aborted'>((resolve) => {
    const collected = new ByteCollector()
    const add = (chunk: Buffer) => {
      if (collected.length + chunk.length > maxBytes) giveUp('too-large')
      else if (place === undefined || place.grow(chunk.length)) collected.add(chunk)
      else giveUp('overloaded')
    }
    const giveUp = (why: 'too-large' | 'overloaded') => {
      collected.take()
      if (place !== undefined) place.onEvicted = undefined
      request.off('data', add).resume()
      resolve(why)
    }
    if (place !== undefined) place.onEvicted = () => giveUp('overloaded')
    request.on('data', add)
    request.once('end', () => {
      if (place !== undefined) place.onEvicted = undefined
      resolve(collected.take())
    })
    request.on('error', ignore)
    // Emitted after `end` too; then the promise is settled already.
    request.once('close', () => resolve('aborted'))
  })

// `close` follows; without a listener Node throws.
const ignore = () => undefined
