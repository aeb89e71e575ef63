import type { IncomingMessage } from 'node:http'

/** What a body parser of the app around us made of a body; its bytes are gone. */
export interface ParsedBody {
  readonly parsed: unknown
}

/**
 * The body of a request as it came over the wire: it is not decompressed, so a caller refuses `Content-Encoding` itself. Of a body that
 * was read before it is what was left: the bytes in `rawBody` (which `verify` of a parser can set) or of `express.raw`, the text of
 * `express.text` in UTF-8, else the value that was parsed.
 *
 * Exactly `maxBytes` pass; one more is 'too-large', told before the rest has come: the caller answers at once, and the
 * rest is thrown away as it arrives (for as long as a request may take), so that the client reads that answer and may go
 * on with its connection. 'aborted': the client has gone, and nobody reads an answer. Never rejects for what a client
 * does; throws if the body has been read and nothing of it was left.
 */
export const readBody = async (
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | ParsedBody | 'too-large' | 'aborted'> => {
  const announced = Number(request.headers['content-length'] ?? NaN)
  if (request.readableEnded) return announced > maxBytes ? 'too-large' : leftOf(request, announced, maxBytes)
  if (request.destroyed) return 'aborted'
  if (announced > maxBytes) {
    request.on('error', ignore).resume()
    return 'too-large'
  }
  return collect(request, maxBytes)
}

/** Parsers make an object of an empty body, too. */
const leftOf = (request: ReadBefore, announced: number, maxBytes: number): Buffer | ParsedBody | 'too-large' => {
  const left = announced === 0 ? '' : (request.rawBody ?? request.body)
  if (left === undefined)
    throw new Error('The body of this request was read before it came here, and nothing of it was left.')
  if (typeof left !== 'string' && !(left instanceof Uint8Array)) return { parsed: left }
  const bytes =
    typeof left === 'string' ? Buffer.from(left) : Buffer.from(left.buffer, left.byteOffset, left.byteLength)
  return bytes.length > maxBytes ? 'too-large' : bytes
}

type ReadBefore = IncomingMessage & { readonly rawBody?: unknown; readonly body?: unknown }

const collect = (request: IncomingMessage, maxBytes: number) =>
  new Promise<Buffer | 'too-large' | 'aborted'>((resolve) => {
    let chunks: Buffer[] = []
    let bytes = 0
    const add = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBytes) chunks.push(chunk)
      else {
        chunks = []
        request.off('data', add).resume()
        resolve('too-large')
      }
    }
    request.on('data', add)
    request.once('end', () => {
      const [only, ...more] = chunks
      resolve(only !== undefined && more.length === 0 ? only : Buffer.concat(chunks, bytes))
    })
    request.on('error', ignore)
    // Also comes after `end`, when it has nothing left to say.
    request.once('close', () => resolve('aborted'))
  })

// `close` follows and says it; without a listener node throws.
const ignore = () => undefined
