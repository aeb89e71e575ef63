import type { ServerResponse } from 'node:http'
import type { AdmissionGate } from './admission-gate.ts'

export interface Streaming {
  readonly gate: AdmissionGate
  /** Who asks, as of `AdmissionGate`. */
  readonly owner: string
  /** A client that takes nothing for so long is gone; 120 if not given. */
  readonly stalledSeconds?: number
}

/** Size of one write in UTF-16 units: a client makes progress if it reads so much. */
const PIECE_LENGTH = 16_384

/**
 * Writes a long answer as fast as its client reads, with a place for slow work while it waits for parts only. 'full': no place, nothing
 * written. Rejects with what `parts` throws, and then resets the connection if anything was written.
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
      if (response.destroyed) return 'done'
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
      response.off('drain', goOn).off('close', goOn)
      setImmediate(resolve)
    }
    response.on('drain', goOn).on('close', goOn)
  })
