import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection with more waiting requests than this is not read on for now. */
const waitingMax = 32

/** Starts the requests of one connection one after the other: each when the answer before it has gone. */
export interface PipelinedRequests {
  /** At once if no answer of its connection is under way. */
  start(response: ServerResponse, work: () => void): void
  /** To be called when an answer has closed. */
  closed(response: ServerResponse): void
}

export function pipelinedRequests(): PipelinedRequests {
  const waiting = new WeakMap<Socket, (() => void)[]>()
  return {
    start(response, work) {
      const { socket } = response.req
      const queue = waiting.get(socket)
      // Node gives an answer its connection when the one before it has gone.
      if (queue === undefined && response.socket !== null) {
        work()
        return
      }
      const works = queue ?? []
      waiting.set(socket, works)
      works.push(work)
      if (works.length > waitingMax) socket.pause()
    },
    closed(response) {
      const { socket } = response.req
      const works = waiting.get(socket)
      if (works === undefined) return
      const next = socket.destroyed ? undefined : works.shift()
      if (next === undefined) {
        waiting.delete(socket)
        return
      }
      if (works.length <= waitingMax / 2) socket.resume()
      next()
    },
  }
}
