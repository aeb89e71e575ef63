import type { ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { Log } from './log.ts'

/** Answers that give something away for good, unless they are lost on the way. */
export interface HandOvers {
  /**
   * Ends an answer with `body`, which is not empty; its headers are set by the caller. Calls `takeBack` if the connection fails before
   * all of it was handed to the operating system, and again for some minutes while it rejects; a warning says if it never succeeded.
   */
  end(response: ServerResponse, body: string, takeBack: () => Promise<void>): void
  /**
   * Waits until nothing is left to be taken back, for some seconds at the most. To be called when the server is closed, and before
   * that which `takeBack` works with. Never rejects.
   */
  settle(): Promise<void>
}

export interface HandOverSettings {
  readonly log: Log
  /** How long `takeBack` is tried; 600 if not given. */
  readonly tryForSeconds?: number
  /** How long `settle` waits; 3 if not given. */
  readonly settleWithinSeconds?: number
}

const PAUSE_MS = { first: 100, max: 5000 }

export const handOvers = ({ log, tryForSeconds = 600, settleWithinSeconds = 3 }: HandOverSettings): HandOvers => {
  const underWay = new Set<Promise<void>>()
  const settling = new AbortController()
  let deadline = Infinity

  const insist = async (takeBack: () => Promise<void>): Promise<void> => {
    const end = performance.now() + tryForSeconds * 1000
    for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.max)) {
      try {
        await takeBack()
        return
      } catch (err) {
        const leftMs = Math.min(end, deadline) - performance.now()
        if (leftMs <= 0) {
          log.warn({ err }, lost)
          return
        }
        await pause(Math.min(pauseMs, leftMs), settling.signal)
      }
    }
  }

  return {
    end: (response, body, takeBack) => {
      const done = handedOver(response, body)
        .then((whole) => (whole ? undefined : insist(takeBack)))
        .finally(() => underWay.delete(done))
      underWay.add(done)
    },
    settle: async () => {
      const waitMs = settleWithinSeconds * 1000
      deadline = performance.now() + waitMs
      settling.abort()
      const tooLong = new AbortController()
      const settled = Promise.all(underWay).then(() => 'settled')
      // A step that has begun by the deadline may still take its time.
      const outcome = await Promise.race([settled, setTimeout(waitMs + 500, 'late', { signal: tooLong.signal })])
      if (outcome === 'late') log.warn({ answers: underWay.size }, lost)
      else tooLong.abort()
    },
  }
}

const lost = 'what an answer lost on its way had in it could not be taken back'

/** A long pause ends when the process stops; from then on pauses are short. */
const pause = (ms: number, stopping: AbortSignal): Promise<void> =>
  stopping.aborted
    ? setTimeout(Math.min(ms, PAUSE_MS.first))
    : setTimeout(ms, undefined, { signal: stopping }).catch(() => undefined)

/**
 * Ends an answer, and tells whether the operating system got all of it. This is subtle in node (seen on 20.20):
 * - `finish` and the callback of a write come without an error, too, when the connection is destroyed over what was not written yet.
 * - For an answer that waits behind another one on its connection neither comes then, only `close`.
 * - An `end` in the same go adds an empty piece, for which libuv waits until the client has read on: a client that has it all could
 *   break off before we know. So the answer is ended when its body has gone.
 */
const handedOver = (response: ServerResponse, body: string): Promise<boolean> => {
  const { socket } = response.req
  return new Promise((resolve) => {
    response.once('close', () => resolve(false))
    response.setHeader('Content-Length', Buffer.byteLength(body))
    response.write(body, (error) => {
      resolve(!error && !socket.destroyed)
      response.end()
    })
  })
}
