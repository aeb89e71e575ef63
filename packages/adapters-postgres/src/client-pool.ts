import { setTimeout as delay } from 'node:timers/promises'
import { Pool, type Client, type ClientBase, type PoolClient } from 'pg'
import { clientOf } from './client.ts'
import type { DatabaseLiveness } from './database-liveness.ts'
import { sqlState, type Backend } from './errors.ts'
import { refusePooler } from './refuse-pooler.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log } from './settings.ts'
import type { Timings } from './timings.ts'
import { valueTypes } from './value-types.ts'
import { waitAtMost } from './wait-at-most.ts'

/** Numbers of connections of a pool; `waiting` counts the callers that wait for one. */
export interface PoolUse {
  readonly busy: number
  readonly idle: number
  readonly waiting: number
}

export interface ConnectionOptions {
  readonly timings: Timings
  readonly address: ServerAddress
  readonly applicationName: string
  readonly connectionsMax: number
  readonly connectionSeconds: number
  readonly statementSeconds: number
  readonly lockSeconds: number
  readonly retrySeconds: number
  /**
   * Checks a new connection, and throws if it must not be used. Called if the database has the tables for watching its
   * primary.
   */
  readonly admit: (client: ClientBase) => Promise<void>
  /** Called for every statement that fails and every connection that cannot be made. */
  readonly failed: (error: unknown) => void
  /** Other settings of the server, by name. */
  readonly serverSettings: Readonly<Record<string, string>>
}

const noConnectionLeft = '53300'
const pauseMilliseconds = 20
/**
 * Time after which an idle connection is closed. Twice the pause of the work that runs every minute, because a new
 * connection prepares and plans its statements again, and shorter than the time after which firewalls drop connections.
 */
const idleMilliseconds = 150_000

/**
 * Time to wait, after an outage has ended, for answers to statements that were sent before it. After that time, the
 * connections of these statements count as lost.
 */
const lateAnswerSeconds = 2

/** Runs work, and may reject earlier than the work does, such as when the database becomes unreachable. */
export type Patience = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Pool of connections with the same settings, and what is known about each of them. A connection is greeted, is lent to
 * one caller at a time, and is ended after an outage that began while it was open, because it may be dead although no
 * error was reported.
 */
export class ClientPool {
  readonly #options: ConnectionOptions
  readonly #liveness: DatabaseLiveness
  readonly #pool: Pool
  /** Number of outages before each connection was made. */
  readonly #outagesBefore = new WeakMap<ClientBase, number>()
  readonly #backends = new WeakMap<ClientBase, Backend>()
  readonly #broken = new WeakSet<ClientBase>()
  /** Connections on which the server answered a commit although the standby had not confirmed it. */
  readonly #unconfirmed = new WeakSet<ClientBase>()
  readonly #open = new Set<Client>()
  readonly #lent = new Set<Client>()

  constructor(options: ConnectionOptions, liveness: DatabaseLiveness, log: Log) {
    this.#options = options
    this.#liveness = liveness
    const pool = new Pool({
      Client: clientOf(options.address),
      application_name: options.applicationName,
      max: options.connectionsMax,
      connectionTimeoutMillis: options.connectionSeconds * 1000,
      query_timeout: (options.statementSeconds + 1) * 1000,
      idleTimeoutMillis: idleMilliseconds,
      keepAlive: true,
      types: valueTypes,
      // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it
      onConnect: (client) => this.#greet(client),
    })
    this.#pool = pool
    pool.on('connect', (client) => {
      this.#outagesBefore.set(client, liveness.outages)
      this.#open.add(client)
    })
    pool.on('remove', (client) => this.#open.delete(client as unknown as Client))
    pool.on('error', (error) => {
      // Not logged while the pool is ending, because that ends idle connections too.
      if (!pool.ending) log.warn(`an idle connection to the database was lost: ${error.message}`)
    })
    liveness.onBack(() => {
      setTimeout(() => this.#breakOld(), lateAnswerSeconds * 1000).unref()
    })
  }

  /** Lends a connection, once one is free. The caller must release it. */
  async take(patience: Patience): Promise<PoolClient> {
    for (;;) {
      let isLate = false
      const connected = async () => {
        const late = await this.#connectOrWait()
        if (isLate) late.release()
        return late
      }
      const client = await patience(connected).catch((error: unknown) => {
        isLate = true
        throw error
      })
      if (this.#isOld(client)) client.release(true)
      else {
        this.#lent.add(client)
        return client
      }
    }
  }

  release(client: PoolClient): void {
    this.#lent.delete(client)
    client.release(this.#broken.has(client))
  }

  /** Makes `release` end the connection. */
  markBroken(client: ClientBase): void {
    this.#broken.add(client)
  }

  isBroken(client: ClientBase): boolean {
    return this.#broken.has(client)
  }

  /** Returns the server process of a connection; undefined if the connection was not greeted. */
  backendOf(client: ClientBase): Backend | undefined {
    return this.#backends.get(client)
  }

  /** Throws if the wait for a standby was ended on this connection, so that the standby may lack its last commit. */
  refuseUnconfirmed(client: ClientBase): void {
    if (this.#unconfirmed.has(client))
      throw new Error('the wait for a standby was ended: the standby may lack the commit')
  }

  use(): PoolUse {
    const { totalCount, idleCount, waitingCount } = this.#pool
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount }
  }

  /** Ends each connection when it becomes free. After `seconds`, ends the connections that are still lent. */
  async close(seconds: number): Promise<void> {
    await waitAtMost(seconds, this.#pool.end())
    // Ends connections that are still in use, so that their callers get an error.
    for (const client of this.#open) void client.end()
  }

  async #greet(client: ClientBase): Promise<void> {
    // Without a listener, a connection that breaks while it is in use would end the process.
    client.on('error', () => this.markBroken(client))
    client.on('notice', (notice) => {
      if (endsWaitForStandby(notice)) this.#unconfirmed.add(client)
    })
    const query = { text: greeting(this.#options), query_timeout: this.#options.connectionSeconds * 1000 }
    const answers = (await client.query<Greeted>(query)) as unknown as readonly { rows: readonly Greeted[] }[]
    const backend = answers.at(-1)?.rows[0]
    if (backend === undefined) throw new Error('cannot read the process id of a server connection')
    refusePooler(client, backend.pid)
    this.#backends.set(client, backend)
    if (backend.isWatched) await this.#options.admit(client)
  }

  #isOld(client: ClientBase): boolean {
    return this.#outagesBefore.get(client) !== this.#liveness.outages
  }

  /** Ends connections whose statement was sent before an outage and is not answered yet. */
  #breakOld(): void {
    for (const client of this.#open) if (this.#lent.has(client) && this.#isOld(client)) void client.end()
  }

  /** Returns a connection. If the server has none left, waits for an existing one to become free. */
  async #connectOrWait(): Promise<PoolClient> {
    const end = performance.now() + this.#options.connectionSeconds * 1000
    for (;;) {
      try {
        return await this.#pool.connect()
      } catch (error) {
        const isWorthWaiting = sqlState(error) === noConnectionLeft && this.#open.size > 0
        if (!isWorthWaiting || performance.now() > end) throw error
        await delay(pauseMilliseconds)
      }
    }
  }
}

/** First answer on a new connection. `isWatched` is true if the database has the tables for watching its primary. */
interface Greeted extends Backend {
  readonly isWatched: boolean
}

/**
 * Returns true for the warning that precedes the answer to a commit whose wait was cancelled. The routine identifies
 * the warning, because its text may be translated.
 */
const endsWaitForStandby = (notice: { readonly routine?: string | undefined }): boolean =>
  notice.routine === 'SyncRepWaitForLSN'

function greeting({ statementSeconds, lockSeconds, serverSettings }: ConnectionOptions): string {
  const all = {
    statement_timeout: `${Math.ceil(statementSeconds * 1000)}`,
    lock_timeout: `${Math.ceil(lockSeconds * 1000)}`,
    idle_in_transaction_session_timeout: `${Math.ceil((statementSeconds + 1) * 1000)}`,
    // Needed to receive the warning that a wait for a standby was ended. Without the warning, the commit would look
    // complete.
    client_min_messages: 'warning',
    ...serverSettings,
  }
  const sets = Object.entries(all).map(([name, value]) => `set ${name} = ${value};`)
  return `${sets.join(' ')} select pid, extract(epoch from backend_start)::text as start,
    to_regclass('primary_look') is not null as "isWatched"
    from pg_stat_activity where pid = pg_backend_pid()`
}
