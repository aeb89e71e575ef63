import type { IncomingMessage } from 'node:http'

/** A body that a parser of the outer app has parsed; its bytes are gone. */
export interface ParsedBody {
  readonly parsed: unknown
}

/**
 * The body of a request as sent: it is not decompressed, so the caller refuses `Content-Encoding`. If an outer parser has read it:
 * the bytes of `rawBody` (which a parser's `verify` can set) or of `express.raw`, the text of `express.text` as UTF-8, else the
 * parsed value.
 *
 * 'too-large': over `maxBytes`, resolved before the rest has arrived. The rest is discarded as it arrives, so that the client reads
 * the response and can reuse its connection. 'aborted': the client disconnected. Never rejects for what a client does; throws if an
 * outer parser has read the body and kept nothing.
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
    // Emitted after `end` too; then the promise is settled already.
    request.once('close', () => resolve('aborted'))
  })

// `close` follows; without a listener Node throws.
const ignore = () => undefined
