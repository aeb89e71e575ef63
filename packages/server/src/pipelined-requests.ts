import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { smallBytes } from './read-body.ts'

/** Node needs some 5 kB for a request that waits, and one read brings more than a thousand of them. */
const waitingInAllMax = 2048
/** Where so many wait in all, a connection may have as many as this. */
const waitingMin = 8
/** One such request that waits is enough for a connection. */
const longHeadersMin = 8192
const readInTurnMax = 8

/**
 * Starts the requests of one connection one after the other: each when the answer before it has gone. Where some wait that
 * came in two reads (of 64 kB), or one with long headers, nothing more is read of the connection, and it is not heard to break before its next answer. Where too many wait, requests are dropped, and the connection is closed behind its last answer.
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

interface Queue {
  readonly waiting: Waiting[]
  /** Bytes that had come of the connection when the first of those that wait did. */
  bytesRead: number
}

export function pipelinedRequests(): PipelinedRequests {
  const queues = new WeakMap<Socket, Queue>()
  const goOnInTurn = connectionsInTurn(goOnReading)
  let waitingInAll = 0

  return {
    drops({ req: { socket } }) {
      const queue = waitingInAll < waitingInAllMax ? undefined : queues.get(socket)
      if (queue === undefined || queue.waiting.length < waitingMin) return false
      dropFurther(socket)
      queue.waiting.at(-1)?.response.setHeader('Connection', 'close')
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
      const its = queue ?? { waiting: [], bytesRead: 0 }
      if (queue === undefined) queues.set(socket, its)
      if (its.waiting.length === 0) its.bytesRead = socket.bytesRead
      if (socket.bytesRead > its.bytesRead || isLong(response.req) || hasLongBody(response.req)) stopReading(socket)
      its.waiting.push({ response, work })
      waitingInAll++
    },
    closed(response) {
      const { socket } = response.req
      const queue = queues.get(socket)
      if (queue === undefined) return
      const next = socket.destroyed ? undefined : queue.waiting.shift()
      if (next === undefined) {
        waitingInAll -= queue.waiting.length
        queues.delete(socket)
        goOnInTurn(socket)
        return
      }
      waitingInAll--
      // Its body may have yet to come.
      if (!next.response.req.complete) goOnReading(socket)
      next.work()
    },
  }
}

const isLong = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.reduce((sum, { length }) => sum + length, 0) > longHeadersMin

/** Most of it has yet to come. */
const hasLongBody = ({ headers }: IncomingMessage): boolean =>
  !(Number(headers['content-length'] ?? NaN) <= smallBytes) &&
  (headers['content-length'] ?? headers['transfer-encoding']) !== undefined

/** Node parses what it has read at once, long headers in 0.1 ms: of all connections that were stopped a turn reads few. */
function connectionsInTurn(goOn: (socket: Socket) => void): (socket: Socket) => void {
  const stopped: Socket[] = []
  const turn = () => {
    for (const socket of stopped.splice(0, readInTurnMax)) goOn(socket)
    if (stopped.length > 0) setImmediate(turn)
  }
  return (socket) => {
    if (!isStopped(socket)) return
    if (stopped.push(socket) === 1) setImmediate(turn)
  }
}

const isStopped = (socket: Socket): boolean => Object.hasOwn(socket, 'resume')

/** Node resumes a connection for each request that has been answered, whatever waits behind it. */
function stopReading(socket: Socket): void {
  if (!isStopped(socket)) {
    socket.pause()
    socket.resume = () => socket
  }
  // A resume that had begun before still makes node read after this turn, and a stream that is paused says so only once.
  process.nextTick(() => {
    if (isStopped(socket)) socket.emit('pause')
  })
}

function goOnReading(socket: Socket): void {
  if (!isStopped(socket)) return
  Reflect.deleteProperty(socket, 'resume')
  socket.resume()
}

/** What else was read from the connection is not kept: node would make two objects of each request, thousands from one read. */
function dropFurther(socket: Socket): void {
  const parser = Reflect.get(socket, 'parser') as { onIncoming: unknown } | null
  if (parser !== null) parser.onIncoming = () => 0
}
