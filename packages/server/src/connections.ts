import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkOf } from './client-address.ts'
import { everySocketSeen } from './event-loop.ts'

export interface ConnectionLimits {
  /**
   * Maximum number of connections of this process; default 4000. Reduced if the operating system allows fewer open
   * files.
   */
  readonly connectionsMax?: number
  /** Maximum number of connections from one network (/24, /64); default 2000. At most half of all connections. */
  readonly connectionsPerNetworkMax?: number
  /**
   * Returns true for the address of a proxy, whose connections do not count for their network. By default there is
   * none.
   */
  readonly isProxy?: (address: string) => boolean
}

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
 */
export interface Connections {
  /** Runs `work` for a request once the previous answer has been sent, or never if the connection ends first. */
  take(response: ServerResponse, work: () => void): void
  /**
   * Ends a connection on which malformed HTTP arrived. Returns 'owed' if complete requests are still unanswered; the
   * connection closes after their answers. Returns 'free' if an answer to the malformed request may be written. Returns
   * 'broken' if an answer was already written, in whole or in part, where that answer would have to be.
   */
  endMalformed(socket: Duplex): 'owed' | 'free' | 'broken'
  /**
   * Slows down the network of a connection that took long to read. The network's other connections, including new ones,
   * are read one in each turn of the event loop, with pauses for the dropped requests. Without this, 373 reads of small
   * chunks made a single turn of 7 s.
   */
  readNetworkInTurn(socket: Duplex): void
  /** Returns the request whose head is complete and whose body is still being read, if there is one. */
  unfinished(socket: Duplex): IncomingMessage | undefined
  /**
   * Stops accepting, closes idle connections, and closes the others as they become idle. Resolves when all are closed.
   */
  close(): Promise<void>
  /** Breaks off the remaining connections. */
  destroy(): void
  readonly counts: { readonly requests: number; readonly connections: number }
}

export function connectionsOf(server: Server, limits: ConnectionLimits = {}, refuse: Refuse): Connections {
  const connections = new Map<Duplex, Connection>()
  /** Connections that are paused until their turn. */
  const slowed = new Set<Socket>()
  /** Networks whose connections are read one in each turn of the event loop. */
  const slowNetworks = new Set<string>()
  let isReadingInTurn = false
  /** Pause before the next connection is read, in milliseconds. */
  let pauseMs = 0
  let isClosing = false

  acceptWithin(limits, server, refuse, (socket, network, takeFurtherPlaces) => {
    connections.set(socket, {
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
    if (network !== undefined && slowNetworks.has(network)) process.nextTick(slowDown, socket)
    socket.once('close', () => {
      connections.delete(socket)
      slowed.delete(socket)
    })
  })

  function begin(connection: Connection, response: ServerResponse, work: () => void): void {
    connection.current = response
    if (isClosing) response.setHeader('Connection', 'close')
    response.once('close', () => ended(connection, response))
    work()
  }

  function ended(connection: Connection, { req }: ServerResponse): void {
    const { socket, waiting, current } = connection
    // Stored only if the request is not complete, because storing it for each request would cost 5 µs of garbage
    // collection.
    connection.answeredEarly = req.complete ? undefined : current
    connection.current = undefined
    const next = waiting.shift()
    if (next === undefined) {
      connection.idleBytes = socket.bytesRead
      if (isClosing) setImmediate(() => destroyIfIdle(connection))
      return
    }
    // The next response has no socket if the previous response has ended the connection.
    if (next.response.socket === null || socket.destroyed) connection.isOver = true
    else begin(connection, next.response, next.work)
  }

  function endAfterWaiting(connection: Connection): void {
    connection.isOver = true
    stopReading(connection.socket)
  }

  function slowDown(socket: Socket): void {
    if (isReadingInTurn && !isClosing && connections.has(socket)) slowed.add(socket.pause())
  }

  function readNetworkInTurn(slow: Duplex): void {
    const network = connections.get(slow)?.network
    if (network === undefined || isClosing) return
    for (const { socket, isOver, network: otherNetwork } of connections.values()) {
      if (otherNetwork !== network || isOver || socket === slow || slowed.has(socket)) continue
      slowed.add(socket.pause())
    }
    slowNetworks.add(network)
    if (!isReadingInTurn) setImmediate(readNext)
    isReadingInTurn = true
  }

  /** Reads one of the paused connections. Called once in each turn of the event loop. */
  function readNext(): void {
    if (pauseMs >= 1) {
      setTimeout(readNext, pauseMs)
      pauseMs = 0
      return
    }
    const [next] = slowed
    if (next === undefined) {
      isReadingInTurn = false
      slowNetworks.clear()
      return
    }
    slowed.delete(next)
    next.resume()
    if (isClosing) void everySocketSeen().then(() => closeIfIdle(next))
    setImmediate(readNext)
  }

  function closeIfIdle(socket: Socket): void {
    const connection = connections.get(socket)
    if (connection !== undefined) destroyIfIdle(connection)
  }

  function destroyIfIdle({ socket, current, idleBytes }: Connection): void {
    if (current === undefined && socket.bytesRead === idleBytes) socket.destroy()
  }

  return {
    take(response, work) {
      const { socket } = response.req
      const connection = connections.get(socket)
      if (connection === undefined) return
      const { current, waiting, isOver } = connection
      if (isOver) {
        response.req.destroy = letGo
        if (connection.network !== undefined) pauseMs += pauseMsForLetGo
        return
      }
      if (current === undefined) {
        begin(connection, response, work)
        return
      }
      const { bytesRead } = socket
      const isOneTooMany =
        waiting.length >= waitingMax || bytesRead - (waiting[0]?.bytesRead ?? Infinity) > waitingBytesMax
      if (isOneTooMany) {
        endAfterWaiting(connection)
        readNetworkInTurn(socket)
        if (!connection.takeFurtherPlaces()) socket.destroy()
      }
      waiting.push({ response, work: isOneTooMany ? () => refuse.tooMany(response) : work, bytesRead })
    },
    endMalformed(socket) {
      const connection = connections.get(socket)
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
    },
    readNetworkInTurn,
    unfinished(socket) {
      const connection = connections.get(socket)
      const last = connection?.waiting.at(-1)?.response ?? connection?.current ?? connection?.answeredEarly
      return last?.req.complete === false ? last.req : undefined
    },
    async close() {
      isClosing = true
      // The `close` method of an HTTP server is not used, because it also closes connections whose answer is not
      // completely sent (seen on Node 20.20).
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
      // Wait, because requests on the last accepted connections may not have been read yet.
      await everySocketSeen()
      for (const connection of connections.values()) {
        if (connection.current?.headersSent === false) connection.current.setHeader('Connection', 'close')
        // Paused connections are examined in their turn, because all at once would take seconds.
        if (!slowed.has(connection.socket)) destroyIfIdle(connection)
      }
      await closed
      // Stops the timer of Node that looks for slow requests.
      server.close()
    },
    destroy() {
      for (const socket of connections.keys()) socket.destroy()
    },
    get counts() {
      const requests = [...connections.values()].filter(({ current }) => current !== undefined).length
      return { requests, connections: connections.size }
    },
  }
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

/** Open files reserved for the database, the log and other uses of the process. */
const filesReserved = 150
const lingerMs = 1000
const lingeringMax = 50

/**
 * Returns how many additional connections of its network a connection with too many requests counts as. Such a
 * connection uses more memory, because the data behind its waiting requests stays in memory until it ends (more than 1
 * MB from one read).
 */
const furtherPlaces = (networkMax: number): number => Math.floor(networkMax / 20)

/**
 * Calls `accept` for connections within the limits; answers all others with 503 and closes them. `takeFurtherPlaces`
 * may be called once. It returns false if the network has not enough places left.
 */
function acceptWithin(
  limits: ConnectionLimits,
  server: Server,
  { unread }: Pick<Refuse, 'unread'>,
  accept: (socket: Socket, network: string | undefined, takeFurtherPlaces: () => boolean) => void,
): void {
  const { connectionsMax = 4000, connectionsPerNetworkMax = 2000, isProxy = () => false } = limits
  const allMax = Math.max(1, Math.min(connectionsMax, openFilesMax() - filesReserved))
  const networkMax = Math.max(1, Math.min(connectionsPerNetworkMax, Math.ceil(allMax / 2)))
  const perNetwork = new Map<string, number>()
  let all = 0
  let lingering = 0

  function refuseUnread(socket: Socket): void {
    if (lingering >= lingeringMax) return void socket.destroy()
    lingering++
    socket.end(unread())
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => {
      clearTimeout(timer)
      lingering--
    })
  }

  const isFull = (network: string | undefined, places: number): boolean =>
    all + places > allMax || (network !== undefined && (perNetwork.get(network) ?? 0) + places > networkMax)

  function count(network: string | undefined, places: number): void {
    all += places
    if (network === undefined) return
    const counted = (perNetwork.get(network) ?? 0) + places
    if (counted === 0) perNetwork.delete(network)
    else perNetwork.set(network, counted)
  }

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const network = isProxy(address) ? undefined : networkOf(address)
    if (isFull(network, 1)) {
      refuseUnread(socket)
      return
    }
    let places = 1
    count(network, places)
    accept(socket, network, () => {
      const further = furtherPlaces(networkMax)
      if (isFull(network, further)) return false
      places += further
      count(network, further)
      return true
    })
    socket.once('close', () => count(network, -places))
  })
}

/** Returns the limit on open files, or Infinity if the operating system does not report it. */
function openFilesMax(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? Infinity : Number(limit)
  } catch {
    return Infinity
  }
}
