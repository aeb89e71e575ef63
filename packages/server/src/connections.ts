import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkOf } from './client-address.ts'
import { everySocketSeen } from './event-loop.ts'

export interface ConnectionLimits {
  /** Connections of this process; fewer where the operating system allows fewer open files. Default 4000. */
  readonly connectionsMax?: number
  /** Connections from one network (/24, /64), but never more than half of all. Default 2000. */
  readonly connectionsPerNetworkMax?: number
  /** Whose connections do not count for their network: those of proxies. Nobody's if not given. */
  readonly isProxy?: (address: string) => boolean
}

/** Usual clients send the next request when they have read the answer. */
const waitingMax = 7
const waitingBytesMax = 65_536
/** Four times what each costs: whoever is closed for them comes again at once. */
const pauseMsForLetGo = 0.07

interface Waiting {
  readonly response: ServerResponse
  readonly work: () => void
  /** Of the connection, when it came. */
  readonly bytesRead: number
}

interface Connection {
  readonly socket: Socket
  /** Undefined: it comes from a proxy. */
  readonly network: string | undefined
  /** What is answered now. */
  current: ServerResponse | undefined
  readonly waiting: Waiting[]
  /** What comes on it is never begun any more. */
  isOver: boolean
  /** The last response was given before its request had come whole. */
  answeredEarly: ServerResponse | undefined
  /** Read when it was idle the last time: more than that is a request that comes. */
  idleBytes: number
  /** As of `acceptWithin`. */
  readonly takeFurtherPlaces: () => boolean
}

/**
 * The connections of a server. Those beyond the limits are answered 503 and closed. The requests of one are worked on
 * one after the other; where more than a few wait, the next one is answered 503, and the connection is closed (decision
 * 0077).
 */
export interface Connections {
  /** Works on a request once the answer before it has gone, or never if the connection ends before. */
  take(response: ServerResponse, work: () => void): void
  /**
   * For a connection on which something came that is no HTTP. 'owed': it closes behind the answers to the requests that
   * came whole. 'free': an answer to it may be written. 'broken': another answer, or a part of one, was written in its
   * place.
   */
  endMalformed(socket: Duplex): 'owed' | 'free' | 'broken'
  /**
   * For a connection of which a read took long: the others of its network are read one a turn of the event loop, also
   * those that come meanwhile, with pauses for the requests that were let go. Else 373 reads of small chunks were one
   * turn of 7 s.
   */
  readNetworkInTurn(socket: Duplex): void
  /** The request whose head came whole and whose body is still read, if there is one. */
  unfinished(socket: Duplex): IncomingMessage | undefined
  /**
   * Stops accepting and closes what is idle, and each of the others when it becomes so. Resolves when all are closed.
   */
  close(): Promise<void>
  /** Breaks off what is left. */
  destroy(): void
  readonly counts: { readonly requests: number; readonly connections: number }
}

export function connectionsOf(server: Server, limits: ConnectionLimits = {}, refuse: Refuse): Connections {
  const connections = new Map<Duplex, Connection>()
  /** Paused until their turn. */
  const slowed = new Set<Socket>()
  /** Networks whose connections are read in turn. */
  const slowNetworks = new Set<string>()
  let isReadingInTurn = false
  /** Before the next one is read. */
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
    // Node itself resumes a new connection in the next tick.
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
    // Kept for this case only: for each request it would cost 5 µs of garbage collection.
    connection.answeredEarly = req.complete ? undefined : current
    connection.current = undefined
    const next = waiting.shift()
    if (next === undefined) {
      connection.idleBytes = socket.bytesRead
      if (isClosing) setImmediate(() => destroyIfIdle(connection))
      return
    }
    // A response has no socket where the connection ends with the one before it.
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
    for (const { socket, isOver, network: its } of connections.values()) {
      if (its !== network || isOver || socket === slow || slowed.has(socket)) continue
      slowed.add(socket.pause())
    }
    slowNetworks.add(network)
    if (!isReadingInTurn) setImmediate(readNext)
    isReadingInTurn = true
  }

  /** Once a turn of the event loop, in which one of them is read. */
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
      // That of an HTTP server would also close connections with an answer of which not all is sent (seen on Node
      // 20.20).
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
      // What was accepted last may not have been read yet.
      await everySocketSeen()
      for (const connection of connections.values()) {
        if (connection.current?.headersSent === false) connection.current.setHeader('Connection', 'close')
        // What is read in turn is looked at in its turn: all at once would be one turn of seconds.
        if (!slowed.has(connection.socket)) destroyIfIdle(connection)
      }
      await closed
      // Ends the timer that looks for slow requests.
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
 * In place of `destroy` of a request that is never begun. When the connection ends, Node destroys each with an error
 * and has its stack written: 11 ms of one turn for the 700 of one read, and 4 without.
 */
function letGo(this: IncomingMessage): IncomingMessage {
  return this
}

/** Nothing more is read of it. Node resumes a connection for each answer that has gone. */
export function stopReading(socket: Duplex): void {
  socket.on('resume', () => socket.pause()).pause()
}

/** How refusals with 503 are answered. */
export interface Refuse {
  /** Answers a request that was not begun because too many wait before it, and closes its connection. */
  readonly tooMany: (response: ServerResponse) => void
  /** Returns the whole answer to a connection beyond the limits, of which nothing was read. */
  readonly unread: () => string
}

/** Files for the database, the log and whatever else a process opens. */
const filesReserved = 150
const lingerMs = 1000
const lingeringMax = 50

/**
 * What came behind the requests that may wait stays in memory until its connection ends: over 1 MB of one read. So such
 * a connection counts as so many more of its network.
 */
const furtherPlaces = (networkMax: number): number => Math.floor(networkMax / 20)

/**
 * Tells of connections within the limits; answers the others with 503 and closes them. `takeFurtherPlaces` is called
 * once at most; false: there are not so many.
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

/** Infinity where the operating system does not say. */
function openFilesMax(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? Infinity : Number(limit)
  } catch {
    return Infinity
  }
}
