import type { IncomingMessage } from 'node:http'

/**
 * The body of a request as it came over the wire: it is not decompressed, so a caller refuses `Content-Encoding` itself.
 *
 * Exactly `maxBytes` pass; one more is 'too-large', told before the rest has come: the caller answers at once, and the
 * rest is thrown away as it arrives (for as long as a request may take), so that the client reads that answer and may go
 * on with its connection. 'aborted': the client has gone, and nobody reads an answer. Never rejects for what a client
 * does; throws if the body has been read already.
 */
export const readBody = async (
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | 'too-large' | 'aborted'> => {
  if (request.readableEnded) throw new Error('The body of this request has been read already.')
  if (request.destroyed) return 'aborted'
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    request.on('error', ignore).resume()
    return 'too-large'
  }
  return collect(request, maxBytes)
}

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
