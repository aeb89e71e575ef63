import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Node needs some 5 kB for a request that waits, and one read brings more than a thousand of them. */
const waitingInAllMax = 8192
/** Where so many wait in all, a connection may have as many as this. */
const waitingMin = 8

/**
 * Starts the requests of one connection one after the other: each when the answer before it has gone. Nothing more is read from a
 * connection on which one waits. Where too many wait, requests are dropped, and the connection is closed behind its last answer.
 */
export interface PipelinedRequests {
  /** Whether a request is dropped. */
  drops(response: ServerResponse): boolean
  /** At once if no answer of its connection is under way. */
  start(response: ServerResponse, work: () => void): void
  /** To be called when an answer has closed. */
  closed(response: ServerResponse): void
}

interface Waiting {
  readonly response: ServerResponse
  readonly work: () => void
}

export function pipelinedRequests(): PipelinedRequests {
  const queues = new WeakMap<Socket, Waiting[]>()
  let waitingInAll = 0

  return {
    drops({ req: { socket } }) {
      const queue = waitingInAll < waitingInAllMax ? undefined : queues.get(socket)
      if (queue === undefined || queue.length < waitingMin) return false
      dropFurther(socket)
      queue.at(-1)?.response.setHeader('Connection', 'close')
      return true
    },
    start(response, work) {
      const { socket } = response.req
      const queue = queues.get(socket)
      // Node gives an answer its connection when the one before it has gone.
      if (queue === undefined && response.socket !== null) {
        work()
        return
      }
      waitingInAll++
      if (queue !== undefined) queue.push({ response, work })
      else {
        queues.set(socket, [{ response, work }])
        socket.pause()
      }
    },
    closed(response) {
      const { socket } = response.req
      const queue = queues.get(socket)
      if (queue === undefined) return
      const next = socket.destroyed ? undefined : queue.shift()
      if (next === undefined) {
        waitingInAll -= queue.length
        queues.delete(socket)
        if (!socket.destroyed) socket.resume()
        return
      }
      waitingInAll--
      next.work()
    },
  }
}

/** What else was read from the connection is not kept: node would make two objects of each request, thousands from one read. */
function dropFurther(socket: Socket): void {
  const parser = Reflect.get(socket, 'parser') as { onIncoming: unknown } | null
  if (parser !== null) parser.onIncoming = () => 0
}
