import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Client, ClientConfig } from 'pg'
import { isAnswer } from './errors.ts'
import type { Host, ServerAddress } from './server-address.ts'
import { whetherPrimary, whichTimeline } from './sql/server.ts'
import { OnlyReads } from './write-trouble.ts'

/*
 * Which of several servers takes writes, as libpq finds it (PostgreSQL documentation, "Specifying Multiple Hosts" and
 * `target_session_attrs`). But all are asked at once: only the others tell that one is no longer the primary.
 */

/** One address of a host. */
interface Place extends Host {
  /** As it was given: certificates name it. */
  readonly name: string
}

interface Reading {
  readonly isPrimary: boolean
  /** Undefined where this role, or this kind of PostgreSQL, may not know. */
  readonly history: { readonly system: string; readonly timeline: number } | undefined
}

/** A server has so long to say what it is. */
const lookMilliseconds = 2000
/** Once one has said that it is the primary, the others have so long to contradict. */
const othersMilliseconds = 300

/** Where the primary of an address was found last, for all its connections. */
interface Search {
  place(): Promise<Place>
  forget(place: Place): void
}

const searches = new WeakMap<ServerAddress, Search>()

/**
 * Clients that connect to the primary. Each asks its own server after it has connected; a wrong one is an `OnlyReads`.
 * Names are looked up for each search, and there is a new one after any connection has ended.
 */
export function primaryClientOf(address: ServerAddress, Plain: typeof Client): typeof Client {
  const search = searches.get(address) ?? searchFor(address, Plain)
  searches.set(address, search)
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
      const place = await search.place()
      if ((this as unknown as { readonly _ending: boolean })._ending) throw new Error('Connection terminated')
      leadTo(this, place)
      this.once('end', () => search.forget(place))
      try {
        await super.connect()
        if (!(await readingOf(this)).isPrimary) throw new OnlyReads(`${nameOf(place)} only reads`)
        return this
      } catch (error) {
        search.forget(place)
        void this.end().catch(() => undefined)
        throw error
      }
    }
  }
}

function searchFor(address: ServerAddress, Plain: typeof Client): Search {
  let found: Promise<Place> | undefined
  let foundPlace: Place | undefined
  return {
    place: () => {
      const finding = (found ??= findPrimary(address, Plain))
      finding.then(
        (place) => (foundPlace = place),
        () => found === finding && (found = undefined),
      )
      return finding
    },
    forget: (place) => {
      if (place !== foundPlace) return
      found = foundPlace = undefined
    },
  }
}

/** Of several that say they are the primary, it is the one with the latest timeline; else the first in order. */
async function findPrimary({ hosts }: ServerAddress, Plain: typeof Client): Promise<Place> {
  const problems: unknown[] = []
  const looked = hosts.map((host) => placesOf(host).catch((error: unknown) => (problems.push(error), [])))
  const places = (await Promise.all(looked)).flat()
  const readings = new Map<Place, Reading>()
  await new Promise<void>((resolve) => {
    const asked = places.map(async (place) => {
      try {
        const reading = await askAt(place, Plain)
        readings.set(place, reading)
        if (reading.isPrimary) setTimeout(resolve, othersMilliseconds).unref()
        else problems.push(new OnlyReads(`${nameOf(place)} only reads`))
      } catch (error) {
        problems.push(error)
      }
    })
    void Promise.all(asked).then(() => resolve())
  })
  const timelineOf = (place: Place) => readings.get(place)?.history?.timeline ?? 0
  const primaries = places.filter((place) => readings.get(place)?.isPrimary)
  const [best] = primaries.sort((one, other) => timelineOf(other) - timelineOf(one))
  if (best === undefined) throw noPrimary(problems)
  return best
}

function noPrimary(problems: readonly unknown[]): unknown {
  if (problems.length === 1) return problems[0]
  const text = `none of the servers takes writes (${problems.map(messageOf).join('; ')})`
  const cause = new AggregateError(problems)
  return problems.some((error) => error instanceof OnlyReads)
    ? new OnlyReads(text, { cause })
    : new Error(text, { cause })
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const nameOf = ({ name, port }: Place): string => (name.startsWith('/') ? name : `${name}:${port}`)

async function placesOf({ host, port }: Host): Promise<readonly Place[]> {
  if (host.startsWith('/') || isIP(host) !== 0) return [{ name: host, host, port }]
  const addresses = await lookup(host, { all: true })
  return addresses.map(({ address }) => ({ name: host, host: address, port }))
}

async function askAt(place: Place, Plain: typeof Client): Promise<Reading> {
  const client = new Plain({
    application_name: 'gateway looks for the primary',
    connectionTimeoutMillis: lookMilliseconds,
  })
  client.on('error', () => undefined)
  leadTo(client, place)
  try {
    await client.connect()
    return await readingOf(client)
  } finally {
    void client.end().catch(() => undefined)
  }
}

/** The driver reads these when it connects; a certificate is compared with the name that was given. */
function leadTo(client: Client, { host, port, name }: Place): void {
  const { connectionParameters, ssl } = client as unknown as {
    readonly connectionParameters: object
    readonly ssl: object | false
  }
  Object.assign(client, { host, port })
  Object.assign(connectionParameters, { host: name, port })
  if (ssl !== false && !name.startsWith('/') && isIP(name) === 0) Object.assign(ssl, { servername: name })
}

async function readingOf(client: Client): Promise<Reading> {
  const ask = async <Row>({ text }: { readonly text: string; readonly row?: Row }): Promise<Row> => {
    const { rows } = await client.query({ text, query_timeout: lookMilliseconds } as { text: string })
    return rows[0] as Row
  }
  const { isPrimary } = await ask(whetherPrimary)
  const history = await ask(whichTimeline).catch((error: unknown) => {
    if (isAnswer(error)) return undefined
    throw error
  })
  return { isPrimary, history }
}
