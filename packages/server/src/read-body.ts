import type { IncomingMessage } from 'node:http'
import type { BodyPlace } from './body-memory.ts'

/** A body that a parser of the outer app has parsed; its bytes are gone. */
export interface ParsedBody {
  readonly parsed: unknown
}

/**
 * The body of a request as sent: it is not decompressed, so the caller refuses `Content-Encoding`. If an outer parser has read it:
 * the bytes of `rawBody` (which a parser's `verify` can set) or of `express.raw`, the text of `express.text` as UTF-8, else the
 * parsed value.
 *
 * Exactly `maxBytes` pass; one more is 'too-large', told before the rest has come: the caller answers at once, and the
 * rest is thrown away as it arrives (for as long as a request may take), so that the client reads that answer and may go
 * on with its connection. 'overloaded': its bytes found no room in `place`, or had to give way to others; the rest is thrown away, too.
 * 'aborted': the client has gone, and nobody reads an answer. Never rejects for what a client does; throws if the body has been
 * read and nothing of it was left. The bytes stay in `place` until the caller releases it.
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
    let chunks: Buffer[] = []
    let bytes = 0
    const add = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) giveUp('too-large')
      else if (place === undefined || place.grow(chunk.length)) chunks.push(chunk)
      else giveUp('overloaded')
    }
    const giveUp = (why: 'too-large' | 'overloaded') => {
      chunks = []
      if (place !== undefined) place.onEvicted = undefined
      request.off('data', add).resume()
      resolve(why)
    }
    if (place !== undefined) place.onEvicted = () => giveUp('overloaded')
    request.on('data', add)
    request.once('end', () => {
      if (place !== undefined) place.onEvicted = undefined
      const [only, ...more] = chunks
      resolve(only !== undefined && more.length === 0 ? only : Buffer.concat(chunks, bytes))
    })
    request.on('error', ignore)
    // Emitted after `end` too; then the promise is settled already.
    request.once('close', () => resolve('aborted'))
  })

// `close` follows; without a listener Node throws.
const ignore = () => undefined
