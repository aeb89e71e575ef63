import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from 'node:net'
import type { Chance } from '@gateway/core/testing'

/**
 * Moment at which a connection breaks: before the server receives a statement, after the server has received it, or
 * after the commit and before the answer reaches the process.
 */
export type Where = 'before it arrives' | 'after it arrived' | 'before its answer'

/**
 * Relay between one process and a server. The process always notices a broken connection at once. The server notices it
 * at once, later or never.
 */
export interface Relay {
  /** Port on 127.0.0.1 to which connections are forwarded. */
  readonly port: number
  /** Breaks about half of the connections, at least one, and returns their number. */
  cut(): number
  /**
   * Breaks the next connection that sends these octets, and calls `also` at that moment. Replaces an earlier request.
   */
  cutAt(where: Where, octets: Buffer, also?: () => void): void
  /**
   * Breaks each connection that sends one of these octet sequences, with this probability. Replaces earlier settings.
   */
  flaky(probability: number, octets: readonly Buffer[]): void
  /** Lets nothing pass in either direction for this long, without closing connections. */
  stall(milliseconds: number): void
  /** Ends the effects of `cutAt` and `flaky`. */
  calm(): void
  /**
   * Returns the end of the last stall, or the time at which the server knows of the last break if that is later, by
   * performance.now().
   */
  disturbedUntil(): number
  /** Time since which there has been a connection, by performance.now(); Infinity without one. */
  connectedSince(): number
  /** Number of broken connections. */
  cuts(): number
  close(): Promise<void>
}

/** Relay between one process and the database. Connections break when a statement with a given name is sent. */
export interface Network extends Omit<Relay, 'port' | 'cutAt' | 'flaky'> {
  readonly connectionString: string
  cutAt(where: Where, statement: string, also?: () => void): void
  flaky(probability: number, statements: readonly string[]): void
}

/** Moments to choose from. A lost answer after a commit is the most dangerous one. */
export const wheres: readonly Where[] = [
  'before it arrives',
  'after it arrived',
  'before its answer',
  'before its answer',
]

interface Break {
  readonly where: Where
  readonly also: () => void
}

interface Pair {
  /** Start of the connection, by performance.now(). */
  readonly since: number
  readonly client: Socket
  readonly upstream: Socket
  /** If defined, the connection breaks when the answer arrives, and this function is called at that moment. */
  atAnswer: (() => void) | undefined
}

/** Opens a relay between a process and the server of `connectionString`, which names a socket in a folder. */
export async function openNetwork(connectionString: string, chance: Chance): Promise<Network> {
  const url = new URL(connectionString.replace('@/', '@localhost/'))
  const path = `${url.searchParams.get('host') ?? ''}/.s.PGSQL.${url.searchParams.get('port') ?? '5432'}`
  const relay = await openRelay({ path }, chance)
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  url.hostname = '127.0.0.1'
  url.port = String(relay.port)
  const named = (statement: string): Buffer => Buffer.from(`${statement}\0`)
  return {
    ...relay,
    connectionString: url.href,
    cutAt: (where, statement, also) => relay.cutAt(where, named(statement), also),
    flaky: (probability, statements) => relay.flaky(probability, statements.map(named)),
  }
}

/** Opens a relay between a process and a server. */
export async function openRelay(target: NetConnectOpts, chance: Chance): Promise<Relay> {
  const pairs = new Set<Pair>()
  let armed: (Break & { readonly octets: Buffer }) | undefined
  let flakiness: { readonly probability: number; readonly all: readonly Buffer[] } = { probability: 0, all: [] }
  let stalled = false
  let cuts = 0
  let disturbedUntil = 0

  /** Breaks a connection as a network failure does. The server learns of it after a delay, or at its next write. */
  function breakOff({ client, upstream }: Pair): void {
    cuts++
    client.destroy()
    const later = chance.happens(0.5) ? 0 : chance.between(200, 3000)
    disturbedUntil = Math.max(disturbedUntil, performance.now() + later)
    setTimeout(() => upstream.destroy(), later).unref()
  }

  function breakAt(data: Buffer): Break | undefined {
    if (armed !== undefined && data.includes(armed.octets)) {
      const now = armed
      armed = undefined
      return now
    }
    const isFragile = flakiness.all.some((octets) => data.includes(octets))
    if (!isFragile || !chance.happens(flakiness.probability)) return undefined
    return { where: chance.one(wheres), also: () => undefined }
  }

  function fromClient(pair: Pair, data: Buffer): void {
    const now = breakAt(data)
    if (now?.where === 'before its answer') pair.atAnswer = now.also
    if (now?.where !== 'before it arrives') pair.upstream.write(data)
    if (now === undefined || pair.atAnswer !== undefined) return
    breakOff(pair)
    now.also()
  }

  function fromServer(pair: Pair, data: Buffer): void {
    if (pair.client.destroyed) return
    if (pair.atAnswer === undefined) pair.client.write(data)
    else {
      breakOff(pair)
      pair.atAnswer()
    }
  }

  const server = createServer((client) => {
    const pair: Pair = { since: performance.now(), client, upstream: connect(target), atAnswer: undefined }
    pairs.add(pair)
    for (const socket of [client, pair.upstream]) {
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      if (stalled) socket.pause()
    }
    client.on('data', (data) => fromClient(pair, data))
    pair.upstream.on('data', (data) => fromServer(pair, data))
    pair.upstream.on('close', () => {
      client.destroy()
      pairs.delete(pair)
    })
    // When a process has ended, its connections are closed at the server too. Connections that the relay cuts are
    // handled by breakOff.
    client.on('end', () => pair.upstream.end())
    client.on('close', (hadError) => {
      if (hadError) pair.upstream.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  function pass(passes: boolean): void {
    stalled = !passes
    for (const { client, upstream } of pairs) {
      for (const socket of [client, upstream]) {
        if (passes) socket.resume()
        else socket.pause()
      }
    }
  }

  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      const open = [...pairs].filter(({ client }) => !client.destroyed)
      const chosen = open.filter((_, i) => i === 0 || chance.happens(0.5))
      for (const pair of chosen) breakOff(pair)
      return chosen.length
    },
    cutAt: (where, octets, also = () => undefined) => (armed = { where, octets, also }),
    flaky: (probability, all) => void (flakiness = { probability, all }),
    stall: (milliseconds) => {
      pass(false)
      disturbedUntil = Math.max(disturbedUntil, performance.now() + milliseconds)
      setTimeout(() => pass(true), milliseconds).unref()
    },
    calm: () => {
      armed = undefined
      flakiness = { probability: 0, all: [] }
    },
    disturbedUntil: () => disturbedUntil,
    connectedSince: () => Math.min(...[...pairs].map(({ since }) => since)),
    cuts: () => cuts,
    close: async () => {
      for (const { client, upstream } of pairs) {
        client.destroy()
        upstream.destroy()
      }
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
