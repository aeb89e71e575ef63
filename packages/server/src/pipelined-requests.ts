import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Usual clients send the next request when they have read the answer. */
const requestsMax = 8
const waitingBytesMax = 65_536

/**
 * Starts the requests of one connection one after the other: each when the answer before it has gone. The connection is closed behind the
 * answer to the eighth that waits, or that came in one read (of 64 kB at most), or behind whose predecessors 64 kB more were read. What
 * comes later is never started, and not read.
 */
export interface PipelinedRequests {
  /** Whether a request is dropped: never started nor answered. */
  drops(response: ServerResponse): boolean
  /** At once if no answer of its connection is under way. */
  start(response: ServerResponse, work: () => void): void
  /** To be called when an answer has closed. */
  closed(response: ServerResponse): void
  /** Closes a connection behind the answers to the requests that have come whole, of which `current` is under way; reads no more of it. */
  readonly closeBehind: (current: ServerResponse) => void
  /** Whether what a connection has still sent will not be read. */
  readonly isOver: (socket: Socket) => boolean
}

interface Waiting {
  readonly response: ServerResponse
  readonly work: () => void
  /** Of the connection, when it came. */
  readonly bytesRead: number
}

export function pipelinedRequests(): PipelinedRequests {
  const queues = new WeakMap<Socket, Waiting[]>()
  const over = new WeakSet<Socket>()

  const latest = { socket: undefined as Socket | undefined, bytesRead: 0, requests: 0 }

  /** How many requests the latest read of a connection has brought; node reports them without a pause. */
  function countOfRead(socket: Socket): number {
    const { bytesRead } = socket
    if (latest.socket !== socket || latest.bytesRead !== bytesRead) latest.requests = 0
    latest.socket = socket
    latest.bytesRead = bytesRead
    return ++latest.requests
  }

  function closeAfter(last: ServerResponse): void {
    const { socket } = last.req
    over.add(socket)
    last.setHeader('Connection', 'close')
    // Node resumes a connection for each request that has been answered.
    socket.on('resume', () => socket.pause()).pause()
    ignoreFurther(socket)
  }

  return {
    drops(response) {
      const { socket } = response.req
      if (over.has(socket)) return true
      const waiting = queues.get(socket) ?? []
      const bytesWaiting = socket.bytesRead - (waiting[0]?.bytesRead ?? Infinity)
      if (Math.max(countOfRead(socket), waiting.length + 1) >= requestsMax || bytesWaiting > waitingBytesMax)
        closeAfter(response)
      return false
    },
    start(response, work) {
      const { socket } = response.req
      const queue = queues.get(socket)
      // Node gives an answer its connection when the one before it has gone.
      if (queue === undefined && response.socket !== null) {
        work()
        return
      }
      const waiting = { response, work, bytesRead: socket.bytesRead }
      if (queue === undefined) queues.set(socket, [waiting])
      else queue.push(waiting)
    },
    closed({ req: { socket } }) {
      const queue = queues.get(socket)
      const next = queue?.shift()
      if (queue?.length === 0) queues.delete(socket)
      // It has no connection if that ends with the answer before it.
      if (next !== undefined && next.response.socket !== null && !socket.destroyed) next.work()
    },
    closeBehind: (current) => {
      const whole = queues.get(current.req.socket)?.findLast(({ response }) => response.req.complete)
      closeAfter(whole?.response ?? current)
    },
    isOver: (socket) => over.has(socket),
  }
}

/** What else one read brought, up to 2000 requests, costs a quarter of the time and no memory if node's parser tells it to nobody. */
function ignoreFurther(socket: Socket): void {
  const parser = Reflect.get(socket, 'parser') as { onIncoming: unknown } | null
  if (parser !== null) parser.onIncoming = () => 0
}
