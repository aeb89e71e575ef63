import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Chance } from '@gateway/core/testing'

/** Where a connection breaks: before the server got a statement, after it got it, or after it has committed and answered. */
export type Where = 'before it arrives' | 'after it arrived' | 'before its answer'

/** The way from one process to the database. The process sees every break; the server is told at once, later or never. */
export interface Network {
  readonly connectionString: string
  /** Breaks about half of the connections as they are, at least one; returns how many. */
  cut(): number
  /**
   * Breaks the next connection that sends this statement, and does `also` at that moment. What was asked before and did not
   * happen is forgotten.
   */
  cutAt(where: Where, statement: string, also?: () => void): void
  /** From now on each of these statements breaks its connection so often; what was asked before is forgotten. */
  flaky(probability: number, statements: readonly string[]): void
  /** For so long nothing passes, in either direction; nothing is closed. */
  stall(milliseconds: number): void
  /** Nothing breaks by itself any more: what was asked of `cutAt` and `flaky` is forgotten. */
  calm(): void
  /** By performance.now(): when the last break, of which the server knows by then, or the last stall is over. */
  disturbedUntil(): number
  /** How many connections were broken. */
  cuts(): number
  close(): Promise<void>
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
  readonly client: Socket
  readonly upstream: Socket
  /** Breaks when the answer comes, and then does this. */
  atAnswer: (() => void) | undefined
}

/** Between a process and the server of `connectionString`, which leads to a socket in a folder. */
export async function openNetwork(connectionString: string, chance: Chance): Promise<Network> {
  const url = new URL(connectionString.replace('@/', '@localhost/'))
  const path = `${url.searchParams.get('host') ?? ''}/.s.PGSQL.${url.searchParams.get('port') ?? '5432'}`
  const pairs = new Set<Pair>()
  let armed: (Break & { readonly text: string }) | undefined
  let flakiness: { readonly probability: number; readonly texts: readonly string[] } = { probability: 0, texts: [] }
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
    if (armed !== undefined && data.includes(armed.text)) {
      const now = armed
      armed = undefined
      return now
    }
    const isFragile = flakiness.texts.some((text) => data.includes(text))
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
    const pair: Pair = { client, upstream: connect(path), atAnswer: undefined }
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
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)

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
    connectionString: url.href,
    cut: () => {
      const open = [...pairs].filter(({ client }) => !client.destroyed)
      const chosen = open.filter((_, i) => i === 0 || chance.happens(0.5))
      for (const pair of chosen) breakOff(pair)
      return chosen.length
    },
    cutAt: (where, statement, also = () => undefined) => (armed = { where, text: `${statement}\0`, also }),
    flaky: (probability, statements) =>
      void (flakiness = { probability, texts: statements.map((name) => `${name}\0`) }),
    stall: (milliseconds) => {
      pass(false)
      disturbedUntil = Math.max(disturbedUntil, performance.now() + milliseconds)
      setTimeout(() => pass(true), milliseconds)
    },
    calm: () => {
      armed = undefined
      flakiness = { probability: 0, texts: [] }
    },
    disturbedUntil: () => disturbedUntil,
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
