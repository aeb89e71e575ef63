import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Client, ClientConfig } from 'pg'
import { sqlState } from './errors.ts'
import type { Host, ServerAddress } from './server-address.ts'
import { whetherPrimary, whichTimeline } from './sql/server.ts'
import { WrongServer } from './write-trouble.ts'

/*
 * Which of several servers takes writes, as libpq finds it (PostgreSQL documentation, "Specifying Multiple Hosts" and
 * `target_session_attrs`). But all are asked at once: only the others tell that one is no longer the primary.
 */

/** One address of a host. */
interface Place extends Host {
  /** As it was given: certificates name it. */
  readonly name: string
}

interface History {
  /** Of the database, whatever server has it. */
  readonly system: string
  /** A promotion begins the next one. */
  readonly timeline: number
}

/** What a server says of itself. */
interface Reading {
  readonly isPrimary: boolean
  /** Undefined where this role, or this kind of PostgreSQL, may not know. */
  readonly history: History | undefined
}

/** What is known of an address, for all its connections in this process. */
interface Known {
  /** The latest history that any server has told: what is earlier gets nothing. */
  latest: History | undefined
  readonly clients: Map<Client, History>
  /** Where the primary was found last. */
  found: Promise<Place> | undefined
}

/** A server has so long to say what it is. */
const lookMilliseconds = 2000
/** Once one has said that it is the primary, the others have so long to contradict; or that it is none, to be one. */
const othersMilliseconds = { primary: 300, standby: 1000 }
/** So often it is asked whether another server has become the primary. */
const watchMilliseconds = 2000

const known = new WeakMap<ServerAddress, Known>()

function knownOf(address: ServerAddress): Known {
  const there = known.get(address) ?? { latest: undefined, clients: new Map(), found: undefined }
  known.set(address, there)
  return there
}

/**
 * Clients that ask their server what it is after they have connected: one whose timeline ended is a `WrongServer`, and
 * where the primary is wanted also one that only reads. Once a later timeline is seen, all that are open to an earlier
 * one break. Names are looked up for each search, and there is a new one after any connection has ended.
 */
export function checkedClientOf(address: ServerAddress, Plain: typeof Client): typeof Client {
  const there = knownOf(address)
  return class extends Plain {
    constructor(options?: ClientConfig | string) {
      super(options)
      this.on('error', () => undefined) // what breaks while it is asked is told by what fails
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
      const found = address.isPrimaryWanted ? (there.found ??= findPrimary(address, Plain)) : undefined
      const forget = () => {
        there.clients.delete(this)
        if (there.found === found) there.found = undefined
      }
      this.once('end', forget)
      try {
        const place = await found
        if ((this as unknown as { readonly _ending: boolean })._ending) throw new Error('Connection terminated')
        if (place !== undefined) leadTo(this, place)
        await super.connect()
        const { isPrimary, history } = await readingOf(this, address)
        admit(there, { isPrimary, history })
        if (place !== undefined && !isPrimary) throw onlyReads(place)
        if (history !== undefined) there.clients.set(this, history)
        return this
      } catch (error) {
        forget()
        void this.end().catch(() => undefined)
        throw error
      }
    }
  }
}

/** Asks all servers of an address now and then, if the primary is wanted. Returns what ends that. */
export function watchPrimary(address: ServerAddress, Plain: typeof Client): () => void {
  if (!address.isPrimaryWanted) return () => undefined
  const look = () => void findPrimary(address, Plain).catch(() => undefined)
  const timer = setInterval(look, watchMilliseconds).unref()
  return () => clearInterval(timer)
}

/** One server of an address, as it is at the moment. */
export interface ServerReading {
  readonly server: string
  /** 'old-primary': there is a later timeline. */
  readonly state: 'primary' | 'old-primary' | 'standby' | 'away'
  readonly timeline: number | undefined
  /** Why it is away. */
  readonly problem?: string
}

/** Asks each server of an address what it is; none where the primary is not wanted. */
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

  async function readServer(place: Place): Promise<ServerReading> {
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
 * Throws a `WrongServer` for a primary that is earlier than what was seen, and breaks what is open to that. A standby
 * may have an earlier timeline: it notes the one that it follows with its next restart point.
 */
function admit(there: Known, { isPrimary, history }: Reading): void {
  const { latest } = there
  if (history === undefined) return
  if (latest !== undefined && latest.system !== history.system)
    throw new WrongServer('other-database', `it has the system identifier ${history.system}, not ${latest.system}`)
  if (latest !== undefined && latest.timeline > history.timeline) {
    if (!isPrimary) return
    const problem = `its timeline is ${history.timeline}, and there is a timeline ${latest.timeline}`
    throw new WrongServer('old-primary', problem)
  }
  there.latest = history
  for (const [client, { timeline }] of there.clients) if (timeline < history.timeline) breakOff(client)
}

/** Told as an error of the connection, so that a pool gives it up too. */
function breakOff(client: Client): void {
  const { connection } = client as unknown as { readonly connection: { stream: { destroy(error: Error): void } } }
  connection.stream.destroy(new Error('its server is a primary that was replaced'))
}

const onlyReads = (place: Place): WrongServer => new WrongServer('read-only', `${nameOf(place)} only reads`)

const nowhere: Place = { name: '', host: '', port: 0 }

/** Of several that take writes, the one with the latest timeline; else the first in order. */
async function findPrimary(address: ServerAddress, Plain: typeof Client): Promise<Place> {
  const problems: unknown[] = []
  const looked = address.hosts.map((host) => placesOf(host).catch((error: unknown) => (problems.push(error), [])))
  const places = (await Promise.all(looked)).flat()
  const readings = new Map<Place, Reading>()
  await new Promise<void>((resolve) => {
    const asked = places.map(async (place) => {
      try {
        const reading = await askAt(place, address, Plain)
        readings.set(place, reading)
        setTimeout(resolve, othersMilliseconds[reading.isPrimary ? 'primary' : 'standby']).unref()
        if (!reading.isPrimary) problems.push(onlyReads(place))
      } catch (error) {
        problems.push(error)
      }
    })
    void Promise.all(asked).then(() => resolve())
  })
  const there = knownOf(address)
  const historyOf = (place: Place) => readings.get(place)?.history
  const system = (there.latest ?? historyOf(places.find((place) => readings.get(place)?.isPrimary) ?? nowhere))?.system
  const rank = (place: Place) => (historyOf(place)?.system === system ? (historyOf(place)?.timeline ?? 0) : -1)
  const latestFirst = places.filter((place) => readings.has(place)).sort((a, b) => rank(b) - rank(a))
  let best: Place | undefined
  for (const place of latestFirst) {
    const reading = readings.get(place)
    if (reading === undefined) continue
    try {
      admit(there, reading)
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
  const text = `none of the servers takes writes (${problems.map(messageOf).join('; ')})`
  const cause = new AggregateError(problems)
  const wrong = problems.findLast((problem) => problem instanceof WrongServer)
  return wrong === undefined ? new Error(text, { cause }) : new WrongServer(wrong.reason, text, { cause })
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const nameOf = ({ name, port }: Place): string => (name.startsWith('/') ? name : `${name}:${port}`)

async function placesOf({ host, port }: Host): Promise<readonly Place[]> {
  if (host.startsWith('/') || isIP(host) !== 0) return [{ name: host, host, port }]
  const addresses = await lookup(host, { all: true })
  return addresses.map(({ address }) => ({ name: host, host: address, port }))
}

async function askAt(place: Place, address: ServerAddress, Plain: typeof Client): Promise<Reading> {
  const client = new Plain({
    application_name: 'gateway looks for the primary',
    connectionTimeoutMillis: lookMilliseconds,
  })
  client.on('error', () => undefined)
  leadTo(client, place)
  try {
    await client.connect()
    return await readingOf(client, address)
  } finally {
    void client.end().catch(() => undefined)
  }
}

/** The driver reads these when it connects; a certificate is compared with the name that was given. */
function leadTo(client: Client, { host, port, name }: Place): void {
  const { connection, connectionParameters, ssl } = client as unknown as {
    readonly connection: object
    readonly connectionParameters: object
    readonly ssl: object | false
  }
  Object.assign(client, { host, port })
  Object.assign(connectionParameters, { host: name, port })
  // A socket among hosts has no TLS, whatever the others have.
  if (name.startsWith('/')) for (const one of [client, connection]) Object.assign(one, { ssl: false })
  if (ssl !== false && !name.startsWith('/') && isIP(name) === 0) Object.assign(ssl, { servername: name })
}

/** Not permitted, not supported, no such function. */
const refusals = new Set<string | undefined>(['42501', '0A000', '42883'])

/** Those whose role or server refuses to say: each time it is asked, the server writes an error into its log. */
const silentAbout = new WeakSet<ServerAddress>()

async function readingOf(client: Client, address: ServerAddress): Promise<Reading> {
  const ask = async <Row>({ text }: { readonly text: string; readonly row?: Row }): Promise<Row> => {
    const { rows } = await client.query({ text, query_timeout: lookMilliseconds } as { text: string })
    return rows[0] as Row
  }
  const { isPrimary } = address.isPrimaryWanted ? await ask(whetherPrimary) : { isPrimary: true }
  if (silentAbout.has(address)) return { isPrimary, history: undefined }
  const history = await ask(whichTimeline).catch((error: unknown) => {
    if (!refusals.has(sqlState(error))) throw error
    silentAbout.add(address)
    return undefined
  })
  return { isPrimary, history }
}
