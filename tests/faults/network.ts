import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from 'node:net'
import type { Chance } from '@gateway/core/testing'

/**
 * Where a connection breaks: before the server got a statement, after it got it, or after it has committed and
 * answered.
 */
export type Where = 'before it arrives' | 'after it arrived' | 'before its answer'

/** The way from one process to a server. The process sees every break; the server is told at once, later or never. */
export interface Relay {
  /** Where it listens, on 127.0.0.1. */
  readonly port: number
  /** Breaks about half of the connections as they are, at least one; returns how many. */
  cut(): number
  /**
   * Breaks the next connection that sends these octets, and does `also` at that moment. What was asked before and did
   * not happen is forgotten.
   */
  cutAt(where: Where, octets: Buffer, also?: () => void): void
  /** From now on each of these breaks its connection so often; what was asked before is forgotten. */
  flaky(probability: number, octets: readonly Buffer[]): void
  /** For so long nothing passes, in either direction; nothing is closed. */
  stall(milliseconds: number): void
  /** Nothing breaks by itself any more: what was asked of `cutAt` and `flaky` is forgotten. */
  calm(): void
  /** By performance.now(): when the last break, of which the server knows by then, or the last stall is over. */
  disturbedUntil(): number
  /** By performance.now(): since when there has been a connection; Infinity: there is none. */
  connectedSince(): number
  /** How many connections were broken. */
  cuts(): number
  close(): Promise<void>
}

/** The way from one process to the database. Connections break at statements, which are sent by name. */
export interface Network extends Omit<Relay, 'port' | 'cutAt' | 'flaky'> {
  readonly connectionString: string
  cutAt(where: Where, statement: string, also?: () => void): void
  flaky(probability: number, statements: readonly string[]): void
}

/** To choose from: an answer that is lost after a commit is what most can go wrong with. */
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
  /** By performance.now(). */
  readonly since: number
  readonly client: Socket
  readonly upstream: Socket
  /** Breaks when the answer comes, and then does this. */
  atAnswer: (() => void) | undefined
}

/** Between a process and the server of `connectionString`, which leads to a socket in a folder. */
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

/** Between a process and a server. */
export async function openRelay(target: NetConnectOpts, chance: Chance): Promise<Relay> {
  const pairs = new Set<Pair>()
  let armed: (Break & { readonly octets: Buffer }) | undefined
  let flakiness: { readonly probability: number; readonly all: readonly Buffer[] } = { probability: 0, all: [] }
  let stalled = false
  let cuts = 0
  let disturbedUntil = 0

  /** As a network breaks: the server learns of it late, or when it next writes. */
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
    // A process that has ended closes its connections; one that was cut off is ended by breakOff.
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
