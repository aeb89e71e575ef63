import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { acceptWithin, type ConnectionLimits } from './connection-limits.ts'
import { everySocketSeen } from './event-loop.ts'

/**
 * Maximum number of waiting requests of one connection. Usual clients send the next request after they have read the
 * answer.
 */
const waitingMax = 7
const waitingBytesMax = 65_536
/**
 * Milliseconds to pause for each dropped request. This is four times the cost of dropping it, because a client that is
 * disconnected reconnects at once.
 */
const pauseMsForLetGo = 0.07

interface Waiting {
  readonly response: ServerResponse
  readonly work: () => void
  /** Bytes read from the connection when this request arrived. */
  readonly bytesRead: number
}

interface Connection {
  readonly socket: Socket
  /** Network of the client; undefined if the connection comes from a proxy. */
  readonly network: string | undefined
  /** Response in progress. */
  current: ServerResponse | undefined
  readonly waiting: Waiting[]
  /** True if no further request of this connection is begun. */
  isOver: boolean
  /** Last response of the connection, if it was sent before the body of its request had arrived completely. */
  answeredEarly: ServerResponse | undefined
  /** Bytes read when the connection was last idle. More bytes mean that a request is arriving. */
  idleBytes: number
  /** Makes the connection count as several connections of its network (`acceptWithin`). */
  readonly takeFurtherPlaces: () => boolean
}

/**
 * Connections of a server. Connections beyond the limits are answered 503 and closed. Requests of one connection run
 * one after the other. If more than a few wait, the next one is answered 503 and the connection is closed (decision
 * 0077).
 *
 *   open --close--> closing: connections end as they become idle --all have ended--> closed
 */
export class Connections {
  readonly #server: Server
  readonly #refuse: Refuse
  readonly #connections = new Map<Duplex, Connection>()
  /** Connections that are paused until their turn. */
  readonly #slowed = new Set<Socket>()
  /** Networks whose connections are read one in each turn of the event loop. */
  readonly #slowNetworks = new Set<string>()
  #isReadingInTurn = false
  /** Pause before the next connection is read, in milliseconds. */
  #pauseMs = 0
  #isClosing = false

  constructor(server: Server, limits: ConnectionLimits, refuse: Refuse) {
    this.#server = server
    this.#refuse = refuse
    acceptWithin(limits, server, refuse.unread, (...accepted) => this.#add(...accepted))
  }

  /** Runs `work` for a request once the previous answer has been sent, or never if the connection ends first. */
  take(response: ServerResponse, work: () => void): void {
    const { socket } = response.req
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    const { current, waiting, isOver } = connection
    if (isOver) {
      response.req.destroy = letGo
      if (connection.network !== undefined) this.#pauseMs += pauseMsForLetGo
      return
    }
    if (current === undefined) {
      this.#begin(connection, response, work)
      return
    }
    const { bytesRead } = socket
    const isOneTooMany =
      waiting.length >= waitingMax || bytesRead - (waiting[0]?.bytesRead ?? Infinity) > waitingBytesMax
    if (isOneTooMany) {
      endAfterWaiting(connection)
      this.readNetworkInTurn(socket)
      if (!connection.takeFurtherPlaces()) socket.destroy()
    }
    waiting.push({ response, work: isOneTooMany ? () => this.#refuse.tooMany(response) : work, bytesRead })
  }

  /**
   * Ends a connection on which malformed HTTP arrived. Returns 'owed' if complete requests are still unanswered; the
   * connection closes after their answers. Returns 'free' if an answer to the malformed request may be written. Returns
   * 'broken' if an answer was already written, in whole or in part, where that answer would have to be.
   */
  endMalformed(socket: Duplex): 'owed' | 'free' | 'broken' {
    const connection = this.#connections.get(socket)
    if (connection === undefined || connection.isOver) return 'owed'
    const { current, waiting, answeredEarly } = connection
    endAfterWaiting(connection)
    if (current === undefined) return answeredEarly === undefined ? 'free' : 'broken'
    if (current.headersSent || current.socket === null) return 'broken'
    if (!current.req.complete) return 'free'
    const whole = waiting.findLastIndex(({ response }) => response.req.complete)
    waiting.splice(whole + 1)
    const last = waiting.at(-1)?.response ?? current
    last.setHeader('Connection', 'close')
    return 'owed'
  }

  /**
   * Slows down the network of a connection that took long to read. The network's other connections, including new ones,
   * are read one in each turn of the event loop, with pauses for the dropped requests. Without this, 373 reads of small
   * chunks made a single turn of 7 s.
   */
  readNetworkInTurn(slow: Duplex): void {
    const network = this.#connections.get(slow)?.network
    if (network === undefined || this.#isClosing) return
    for (const { socket, isOver, network: otherNetwork } of this.#connections.values()) {
      if (otherNetwork !== network || isOver || socket === slow || this.#slowed.has(socket)) continue
      this.#slowed.add(socket.pause())
    }
    this.#slowNetworks.add(network)
    if (!this.#isReadingInTurn) setImmediate(this.#readNext)
    this.#isReadingInTurn = true
  }

  /** Returns the request whose head is complete and whose body is still being read, if there is one. */
  unfinished(socket: Duplex): IncomingMessage | undefined {
    const connection = this.#connections.get(socket)
    const last = connection?.waiting.at(-1)?.response ?? connection?.current ?? connection?.answeredEarly
    return last?.req.complete === false ? last.req : undefined
  }

  /**
   * Stops accepting, closes idle connections, and closes the others as they become idle. Resolves when all are closed.
   */
  async close(): Promise<void> {
    this.#isClosing = true
    const server = this.#server
    // The `close` method of an HTTP server is not used, because it also closes connections whose answer is not
    // completely sent (seen on Node 20.20).
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
    // Wait, because requests on the last accepted connections may not have been read yet.
    await everySocketSeen()
    for (const connection of this.#connections.values()) {
      if (connection.current?.headersSent === false) connection.current.setHeader('Connection', 'close')
      // Paused connections are examined in their turn, because all at once would take seconds.
      if (!this.#slowed.has(connection.socket)) destroyIfIdle(connection)
    }
    await closed
    // Stops the timer of Node that looks for slow requests.
    server.close()
  }

  /** Breaks off the remaining connections. */
  destroy(): void {
    for (const socket of this.#connections.keys()) socket.destroy()
  }

  get counts(): { readonly requests: number; readonly connections: number } {
    const requests = [...this.#connections.values()].filter(({ current }) => current !== undefined).length
    return { requests, connections: this.#connections.size }
  }

  #add(socket: Socket, network: string | undefined, takeFurtherPlaces: () => boolean): void {
    this.#connections.set(socket, {
      socket,
      network,
      current: undefined,
      waiting: [],
      isOver: false,
      answeredEarly: undefined,
      idleBytes: 0,
      takeFurtherPlaces,
    })
    // Wait until the next tick, because Node itself resumes a new connection then.
    if (network !== undefined && this.#slowNetworks.has(network)) process.nextTick(() => this.#slowDown(socket))
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.#slowed.delete(socket)
    })
  }

  #begin(connection: Connection, response: ServerResponse, work: () => void): void {
    connection.current = response
    if (this.#isClosing) response.setHeader('Connection', 'close')
    response.once('close', () => this.#ended(connection, response))
    work()
  }

  #ended(connection: Connection, { req }: ServerResponse): void {
    const { socket, waiting, current } = connection
    // Stored only if the request is not complete, because storing it for each request would cost 5 µs of garbage
    // collection.
    connection.answeredEarly = req.complete ? undefined : current
    connection.current = undefined
    const next = waiting.shift()
    if (next === undefined) {
      connection.idleBytes = socket.bytesRead
      if (this.#isClosing) setImmediate(() => destroyIfIdle(connection))
      return
    }
    // The next response has no socket if the previous response has ended the connection.
    if (next.response.socket === null || socket.destroyed) connection.isOver = true
    else this.#begin(connection, next.response, next.work)
  }

  #slowDown(socket: Socket): void {
    if (this.#isReadingInTurn && !this.#isClosing && this.#connections.has(socket)) this.#slowed.add(socket.pause())
  }

  /** Reads one of the paused connections. Called once in each turn of the event loop. */
  readonly #readNext = (): void => {
    if (this.#pauseMs >= 1) {
      setTimeout(this.#readNext, this.#pauseMs)
      this.#pauseMs = 0
      return
    }
    const [next] = this.#slowed
    if (next === undefined) {
      this.#isReadingInTurn = false
      this.#slowNetworks.clear()
      return
    }
    this.#slowed.delete(next)
    next.resume()
    if (this.#isClosing) void everySocketSeen().then(() => this.#closeIfIdle(next))
    setImmediate(this.#readNext)
  }

  #closeIfIdle(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection !== undefined) destroyIfIdle(connection)
  }
}

function endAfterWaiting(connection: Connection): void {
  connection.isOver = true
  stopReading(connection.socket)
}

function destroyIfIdle({ socket, current, idleBytes }: Connection): void {
  if (current === undefined && socket.bytesRead === idleBytes) socket.destroy()
}

/**
 * Replaces the method `destroy` of a request that will not be started. When a connection ends, Node destroys each of
 * its requests with an error that has a stack trace. For the 700 requests of one read this took 11 ms of one turn of
 * the event loop, and takes 4 ms without it.
 */
function letGo(this: IncomingMessage): IncomingMessage {
  return this
}

/**
 * Stops reading from a connection for good. A pause is not enough, because Node resumes a connection after each answer.
 */
export function stopReading(socket: Duplex): void {
  socket.on('resume', () => socket.pause()).pause()
}

/** How to answer connections and requests that are refused with 503. */
export interface Refuse {
  /** Answers a request that was not begun because too many wait before it, and closes its connection. */
  readonly tooMany: (response: ServerResponse) => void
  /** Returns the complete answer for a connection beyond the limits, from which nothing is read. */
  readonly unread: () => string
}
