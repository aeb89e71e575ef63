import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Client, ClientConfig } from 'pg'
import { breakConnection, isEnding, setServer, type ServerPlace } from './driver.ts'
import { sqlState } from './errors.ts'
import type { History, KnownServers } from './known-servers.ts'
import type { Host, ServerAddress } from './server-address.ts'
import { whetherPrimary, whichTimeline } from './sql/server.ts'
import { WrongServer } from './write-trouble.ts'

/*
 * Finds the server that accepts writes among several, as libpq does (PostgreSQL documentation, "Specifying Multiple
 * Hosts" and `target_session_attrs`). Unlike libpq, it queries all servers at once, because only the other servers show
 * that one is no longer the primary.
 */

/** Role of a server, as the server reports it. */
interface Reading {
  readonly isPrimary: boolean
  /** Undefined if this role, or this kind of PostgreSQL, cannot read it. */
  readonly history: History | undefined
}

/** Time limit for a server to report its role. */
const lookMilliseconds = 2000
/** Time to wait for the other servers after one server has reported that it is the primary, or that it is a standby. */
const othersMilliseconds = { primary: 300, standby: 1000 }
/** Interval between two searches for another primary. */
const watchMilliseconds = 2000

/**
 * Makes a class of clients that check their server after connecting. A server whose timeline has ended is rejected with
 * a `WrongServer`, and so is a read-only one if the primary is wanted. When a later timeline is seen, all connections
 * to servers with an earlier one are closed. Each search resolves the host names, and a new search follows after any
 * connection has ended.
 */
export function checkedClientOf(address: ServerAddress, Plain: typeof Client): typeof Client {
  const { known } = address
  return class extends Plain {
    constructor(options?: ClientConfig | string) {
      super(options)
      this.on('error', () => undefined) // the query that fails reports the error
    }

    override connect(): Promise<this>
    override connect(callback: ((error: Error) => void) | ((error: null, client: this) => void)): void
    override connect(callback?: (error: never, client: this) => void): Promise<this> | void {
      const connected = this.#connect()
      if (callback === undefined) return connected
      connected.then(
        () => callback(null as never, this),
        (error: unknown) => callback(error as never, this),
      )
    }

    async #connect(): Promise<this> {
      const found = address.isPrimaryWanted ? (known.found ??= findPrimary(address, Plain)) : undefined
      const forget = () => {
        known.clients.delete(this)
        if (known.found === found) known.found = undefined
      }
      this.once('end', forget)
      try {
        const place = await found
        if (isEnding(this)) throw new Error('Connection terminated')
        if (place !== undefined) setServer(this, place)
        await super.connect()
        const { isPrimary, history } = await readingOf(this, address)
        admit(known, { isPrimary, history })
        if (place !== undefined && !isPrimary) throw onlyReads(place)
        if (history !== undefined) known.clients.set(this, history)
        return this
      } catch (error) {
        forget()
        void this.end().catch(() => undefined)
        throw error
      }
    }
  }
}

/** Searches for the primary periodically if the address asks for it. Returns a function that ends the searches. */
export function watchPrimary(address: ServerAddress, Plain: typeof Client): () => void {
  if (!address.isPrimaryWanted) return () => undefined
  const look = () => void findPrimary(address, Plain).catch(() => undefined)
  const timer = setInterval(look, watchMilliseconds).unref()
  return () => clearInterval(timer)
}

/** Current state of a server of an address. */
export interface ServerReading {
  readonly server: string
  /** 'old-primary' if another server has a later timeline. */
  readonly state: 'primary' | 'old-primary' | 'standby' | 'away'
  readonly timeline: number | undefined
  /** Error of a server that is away. */
  readonly problem?: string
}

/** Asks each server of an address for its role. Returns none if the primary is not wanted. */
export async function readServers(address: ServerAddress, Plain: typeof Client): Promise<readonly ServerReading[]> {
  if (!address.isPrimaryWanted) return []
  const looked = address.hosts.map(async (host): Promise<readonly ServerReading[]> => {
    try {
      return await Promise.all((await placesOf(host)).map(readServer))
    } catch (error) {
      return [
        { server: nameOf({ ...host, name: host.host }), state: 'away', timeline: undefined, problem: messageOf(error) },
      ]
    }
  })
  const readings = (await Promise.all(looked)).flat()
  const latest = Math.max(...readings.map(({ timeline }) => timeline ?? 0))
  return readings.map((one) =>
    one.state === 'primary' && one.timeline !== undefined && one.timeline < latest
      ? { ...one, state: 'old-primary' }
      : one,
  )

  async function readServer(place: ServerPlace): Promise<ServerReading> {
    const server = nameOf(place)
    try {
      const { isPrimary, history } = await askAt(place, address, Plain)
      return { server, state: isPrimary ? 'primary' : 'standby', timeline: history?.timeline }
    } catch (error) {
      return { server, state: 'away', timeline: undefined, problem: messageOf(error) }
    }
  }
}

/**
 * Throws a `WrongServer` for a primary with an earlier timeline than another server. Closes connections to servers with
 * an earlier timeline than this one. A standby may report an earlier timeline than it follows, because it records a new
 * one only at its next restart point.
 */
function admit(known: KnownServers, { isPrimary, history }: Reading): void {
  const { latest } = known
  if (history === undefined) return
  if (latest !== undefined && latest.system !== history.system)
    throw new WrongServer('other-database', `its system identifier is ${history.system}, not ${latest.system}`)
  if (latest !== undefined && latest.timeline > history.timeline) {
    if (!isPrimary) return
    const problem = `its timeline is ${history.timeline}, and another server has timeline ${latest.timeline}`
    throw new WrongServer('old-primary', problem)
  }
  known.latest = history
  for (const [client, { timeline }] of known.clients)
    if (timeline < history.timeline) breakConnection(client, new Error('another server has replaced this primary'))
}

const onlyReads = (place: ServerPlace): WrongServer => new WrongServer('read-only', `${nameOf(place)} is read-only`)

const nowhere: ServerPlace = { name: '', host: '', port: 0 }

/**
 * Finds the server that accepts writes. If there are several, returns the one with the latest timeline or, if that does
 * not decide, the first in order.
 */
async function findPrimary(address: ServerAddress, Plain: typeof Client): Promise<ServerPlace> {
  const problems: unknown[] = []
  const looked = address.hosts.map((host) => placesOf(host).catch((error: unknown) => (problems.push(error), [])))
  const places = (await Promise.all(looked)).flat()
  const readings = new Map<ServerPlace, Reading>()
  await new Promise<void>((resolve) => {
    const queries = places.map(async (place) => {
      try {
        const reading = await askAt(place, address, Plain)
        readings.set(place, reading)
        setTimeout(resolve, othersMilliseconds[reading.isPrimary ? 'primary' : 'standby']).unref()
        if (!reading.isPrimary) problems.push(onlyReads(place))
      } catch (error) {
        problems.push(error)
      }
    })
    void Promise.all(queries).then(() => resolve())
  })
  const { known } = address
  const historyOf = (place: ServerPlace) => readings.get(place)?.history
  const system = (known.latest ?? historyOf(places.find((place) => readings.get(place)?.isPrimary) ?? nowhere))?.system
  const rank = (place: ServerPlace) => (historyOf(place)?.system === system ? (historyOf(place)?.timeline ?? 0) : -1)
  const latestFirst = places.filter((place) => readings.has(place)).sort((a, b) => rank(b) - rank(a))
  let best: ServerPlace | undefined
  for (const place of latestFirst) {
    const reading = readings.get(place)
    if (reading === undefined) continue
    try {
      admit(known, reading)
      if (reading.isPrimary) best ??= place
    } catch (error) {
      problems.push(new WrongServer((error as WrongServer).reason, `${nameOf(place)}: ${messageOf(error)}`))
    }
  }
  if (best === undefined) throw noPrimary(problems)
  return best
}

function noPrimary(problems: readonly unknown[]): unknown {
  if (problems.length === 1) return problems[0]
  const text = `none of the servers accepts writes (${problems.map(messageOf).join('; ')})`
  const cause = new AggregateError(problems)
  const wrong = problems.findLast((problem) => problem instanceof WrongServer)
  return wrong === undefined ? new Error(text, { cause }) : new WrongServer(wrong.reason, text, { cause })
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const nameOf = ({ name, port }: ServerPlace): string => (name.startsWith('/') ? name : `${name}:${port}`)

async function placesOf({ host, port }: Host): Promise<readonly ServerPlace[]> {
  if (host.startsWith('/') || isIP(host) !== 0) return [{ name: host, host, port }]
  const addresses = await lookup(host, { all: true })
  return addresses.map(({ address }) => ({ name: host, host: address, port }))
}

async function askAt(place: ServerPlace, address: ServerAddress, Plain: typeof Client): Promise<Reading> {
  const client = new Plain({
    application_name: 'gateway looks for the primary',
    connectionTimeoutMillis: lookMilliseconds,
  })
  client.on('error', () => undefined)
  setServer(client, place)
  try {
    await client.connect()
    return await readingOf(client, address)
  } finally {
    void client.end().catch(() => undefined)
  }
}

/** SQLSTATEs: insufficient privilege, feature not supported, undefined function. */
const refusals = new Set<string | undefined>(['42501', '0A000', '42883'])

async function readingOf(client: Client, address: ServerAddress): Promise<Reading> {
  const ask = async <Row>({ text }: { readonly text: string; readonly row?: Row }): Promise<Row> => {
    const { rows } = await client.query({ text, query_timeout: lookMilliseconds } as { text: string })
    return rows[0] as Row
  }
  const { isPrimary } = address.isPrimaryWanted ? await ask(whetherPrimary) : { isPrimary: true }
  if (address.known.isSilent) return { isPrimary, history: undefined }
  const history = await ask(whichTimeline).catch((error: unknown) => {
    if (!refusals.has(sqlState(error))) throw error
    address.known.isSilent = true
    return undefined
  })
  return { isPrimary, history }
}
