import type { ServerResponse } from 'node:http'

/**
 * Maximum length of a response that is written as text. Longer ones are written as bytes, because text would be copied
 * twice more and stay in the heap until the client has read it.
 */
const textLengthMax = 16_384
const lingerMs = 1000

type Release = () => void

/**
 * Ends a response with `body` and a Content-Length. Node adds the header for HTTP/1.1 only, and without it an HTTP/1.0
 * client cannot distinguish a complete response from a truncated one (ruling 3.2).
 */
export function endResponse(response: ServerResponse, body: string): void {
  const { complete, httpVersion } = response.req
  if (httpVersion === '1.0' || !complete) response.setHeader('Content-Length', Buffer.byteLength(body))
  const bytes = body.length > textLengthMax ? Buffer.from(body) : body
  if (complete) response.end(bytes)
  else endWhenRead(response, bytes)
}

/**
 * Ends a response whose connection may close with it. Closing a connection while the client still sends resets it, and
 * the client may never read the response. So incoming data is read and discarded for a while first.
 */
function endWhenRead(response: ServerResponse, bytes: string | Buffer): void {
  if (bytes.length > 0) response.write(bytes)
  else response.flushHeaders()
  const timer = setTimeout(() => response.end(), lingerMs)
  response.once('close', () => clearTimeout(timer))
  response.req.once('end', () => response.end()).resume()
}

/**
 * Calls back once when the response or its connection has closed, because Node does not close a response that waits
 * behind another one. Returns a function that cancels the call.
 */
export function onceClosed(response: ServerResponse, closed: () => void): () => void {
  const { socket } = response.req
  let isGivenUp = false
  const giveUp = () => {
    isGivenUp = true
    response.off('close', done)
    socket.off('close', done)
  }
  const done = () => {
    // Both events can still call this after `giveUp`, because Node iterates over a copy of the listeners.
    if (isGivenUp) return
    giveUp()
    closed()
  }
  response.on('close', done)
  socket.on('close', done)
  return giveUp
}

/** Sets the status, the content type, `Cache-Control: no-store` and further headers of a response. */
export function setHeaders(
  response: ServerResponse,
  status: number,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.statusCode = status
  response.setHeader('Content-Type', contentType)
  response.setHeader('Cache-Control', 'no-store')
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}

/** Complete answer with its headers. */
export interface WholeAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Writes a response whose body is known completely. */
export function writeWhole(response: ServerResponse, { status, contentType, headers, body }: WholeAnswer): void {
  setHeaders(response, status, contentType, headers)
  endResponse(response, body)
}

export interface Streaming {
  /** `AdmissionGate` that the stream enters for each part, and leaves after it. */
  readonly gate: { enterSlow(owner: string): Release | undefined | Promise<Release | undefined> }
  /** Owner of the request, as in `AdmissionGate`. */
  readonly owner: string
  /** Seconds without progress after which the client counts as gone; default 120. */
  readonly stalledSeconds?: number
}

/** Size of one write in UTF-16 units. A client makes progress if it reads that much. */
const PIECE_LENGTH = 16_384

/**
 * Writes a long answer as fast as its client reads. It occupies a place for slow work only while it waits for parts.
 * Returns 'full' if there was no place; nothing is written then. Rejects with the error of `parts`, and resets the
 * connection if anything was written.
 */
export const streamResponse = async (
  response: ServerResponse,
  parts: AsyncIterable<string>,
  { gate, owner, stalledSeconds = 120 }: Streaming,
): Promise<'done' | 'full'> => {
  let leave = await gate.enterSlow(owner)
  if (leave === undefined) return 'full'
  let piece = ''
  try {
    for await (const part of parts) {
      if (response.destroyed || response.req.socket.destroyed) return 'done'
      piece += part
      if (piece.length < PIECE_LENGTH) continue
      leave?.()
      await written(response, piece, stalledSeconds * 1000)
      leave = await gate.enterSlow(owner)
      piece = ''
    }
    // `end(piece)` would add a Content-Length to short lists only, and all lists must have the same form.
    response.write(piece)
    response.end()
  } catch (error) {
    if (response.headersSent) response.req.socket.resetAndDestroy()
    throw error
  } finally {
    leave?.()
  }
  return 'done'
}

/** Writes a piece. Resolves, after a turn of the event loop, when more can be written or the response is closed. */
const written = (response: ServerResponse, piece: string, stalledMs: number): Promise<void> =>
  new Promise((resolve) => {
    if (response.write(piece) || response.destroyed) return void setImmediate(resolve)
    const timer = setTimeout(() => {
      // The response still waits for an earlier response on the same connection, and the earlier response has its own
      // timeout.
      if (response.socket === null) timer.refresh()
      else response.req.socket.destroy()
    }, stalledMs)
    const goOn = () => {
      clearTimeout(timer)
      response.off('drain', goOn)
      giveUp()
      setImmediate(resolve)
    }
    response.on('drain', goOn)
    const giveUp = onceClosed(response, goOn)
  })
