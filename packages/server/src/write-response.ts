import type { ServerResponse } from 'node:http'

/**
 * Longer texts leave as bytes: as text they would be copied twice more, and wait in the heap until the client has read
 * them.
 */
const textLengthMax = 16_384
const lingerMs = 1000

type Release = () => void

/**
 * Ends a response with `body` and a Content-Length. Node adds the header itself for HTTP/1.1 only; an HTTP/1.0 client
 * could not tell a whole response from a truncated one (ruling 3.2).
 */
export function endResponse(response: ServerResponse, body: string): void {
  const { complete, httpVersion } = response.req
  if (httpVersion === '1.0' || !complete) response.setHeader('Content-Length', Buffer.byteLength(body))
  const bytes = body.length > textLengthMax ? Buffer.from(body) : body
  if (complete) response.end(bytes)
  else endWhenRead(response, bytes)
}

/**
 * The connection may end with the response. Closing it while the client still sends resets it, and the client may never
 * read the response: what comes is read for so long first, and thrown away.
 */
function endWhenRead(response: ServerResponse, bytes: string | Buffer): void {
  if (bytes.length > 0) response.write(bytes)
  else response.flushHeaders()
  const timer = setTimeout(() => response.end(), lingerMs)
  response.once('close', () => clearTimeout(timer))
  response.req.once('end', () => response.end()).resume()
}

/**
 * Calls back once when the response has closed, or its connection: Node does not close one that waits behind another
 * one. Returns how to give that up.
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
    // Each is told by the other's event, whose listeners are a copy by then.
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

/** An answer whose form the caller has made. */
export interface WholeAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Writes a whole answer. */
export function writeWhole(response: ServerResponse, { status, contentType, headers, body }: WholeAnswer): void {
  setHeaders(response, status, contentType, headers)
  endResponse(response, body)
}

export interface Streaming {
  /** An `AdmissionGate`: who streams enters it for each part, and leaves by what it returns. */
  readonly gate: { enterSlow(owner: string): Release | undefined | Promise<Release | undefined> }
  /** Who asks, as of `AdmissionGate`. */
  readonly owner: string
  /** A client that takes nothing for so long is gone; 120 if not given. */
  readonly stalledSeconds?: number
}

/** Size of one write in UTF-16 units: a client makes progress if it reads so much. */
const PIECE_LENGTH = 16_384

/**
 * Writes a long answer as fast as its client reads, with a place for slow work while it waits for parts only. 'full':
 * no place, nothing written. Rejects with what `parts` throws, and then resets the connection if anything was written.
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
    // `end(piece)` would add a Content-Length to a short list only; all lists have the same form.
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

/** Resolves, after a turn of the event loop, when more can be written or the response is closed. */
const written = (response: ServerResponse, piece: string, stalledMs: number): Promise<void> =>
  new Promise((resolve) => {
    if (response.write(piece) || response.destroyed) return void setImmediate(resolve)
    const timer = setTimeout(() => {
      // It waits behind another response on its connection, which has its own limit.
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
