import type { ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { everySocketSeen } from './event-loop.ts'
import type { Log } from './log.ts'
import { onceClosed } from './write-response.ts'

/** Responses that contain items which are returned only once. If the connection fails first, the items are restored. */
export interface ConfirmedResponses {
  /**
   * Ends a response with `body`, which is not empty; the caller has set its headers. Calls `takeBack` if the connection
   * fails before the operating system has accepted the whole body. Repeats `takeBack` for some minutes while it
   * rejects, and logs a warning if it never succeeds.
   */
  end(response: ServerResponse, body: string, takeBack: () => Promise<void>): void
  /**
   * Waits until all calls of `takeBack` have ended, for some seconds at most. Call it after the server has closed and
   * before the resources of `takeBack` are closed. Never rejects.
   */
  settle(): Promise<void>
}

export interface ConfirmedResponsesSettings {
  readonly log: Log
  /** Seconds for which `takeBack` is retried; default 600. */
  readonly retrySeconds?: number
  /** Maximum seconds that `settle` waits; default 3. */
  readonly settleSeconds?: number
}

const PAUSE_MS = { first: 100, max: 5000 }

export const confirmedResponses = ({
  log,
  retrySeconds = 600,
  settleSeconds = 3,
}: ConfirmedResponsesSettings): ConfirmedResponses => {
  const pending = new Set<Promise<void>>()
  const settling = new AbortController()
  let deadline = Infinity

  const retry = async ({ req: request }: ServerResponse, takeBack: () => Promise<void>): Promise<void> => {
    const end = performance.now() + retrySeconds * 1000
    for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.max)) {
      try {
        await takeBack()
        return
      } catch (err) {
        const leftMs = Math.min(end, deadline) - performance.now()
        if (leftMs <= 0) {
          log.warn({ err, request }, lost)
          return
        }
        await pause(Math.min(pauseMs, leftMs), settling.signal)
      }
    }
  }

  return {
    end: (response, body, takeBack) => {
      const done = isConfirmed(response, body)
        .then((confirmed) => (confirmed ? undefined : retry(response, takeBack)))
        .finally(() => pending.delete(done))
      pending.add(done)
    },
    settle: async () => {
      const waitMs = settleSeconds * 1000
      deadline = performance.now() + waitMs
      settling.abort()
      const tooLong = new AbortController()
      const settled = Promise.all(pending).then(() => 'settled')
      // An attempt that began before the deadline gets half a second more.
      const outcome = await Promise.race([settled, setTimeout(waitMs + 500, 'late', { signal: tooLong.signal })])
      if (outcome === 'late') log.warn({ answers: pending.size }, lost)
      else tooLong.abort()
    },
  }
}

const lost = 'the items of a lost response could not be offered again'

/** Waits for `ms`. When the process stops, a long pause ends at once and later pauses are short. */
const pause = (ms: number, stopping: AbortSignal): Promise<void> =>
  stopping.aborted
    ? setTimeout(Math.min(ms, PAUSE_MS.first))
    : setTimeout(ms, undefined, { signal: stopping }).catch(() => undefined)

/**
 * Ends a response. Resolves to true if the operating system accepted all of it. The body is written separately, because
 * `finish` of Node and the callback of `end` do not report that (docs/decisions/0035-confirmed-responses.md).
 */
const isConfirmed = async (response: ServerResponse, body: string): Promise<boolean> => {
  const { socket } = response.req
  // First let Node notice a client that has hung up. Otherwise the operating system would still accept the body.
  await everySocketSeen()
  if (socket.destroyed || socket.readableEnded) {
    response.destroy()
    return false
  }
  return new Promise((resolve) => {
    onceClosed(response, () => resolve(false))
    response.setHeader('Content-Length', Buffer.byteLength(body))
    response.write(body, (error) => {
      resolve(!error && !socket.destroyed)
      response.end()
    })
  })
}
