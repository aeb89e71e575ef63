import { setTimeout as delay } from 'node:timers/promises'
import type { PostgresPoolClient } from 'kysely'
import { Pool, type Client, type ClientBase, type PoolClient, type QueryResult } from 'pg'
import { batcher } from './batcher.ts'
import { clientOf } from './client.ts'
import { queryPrepared } from './driver.ts'
import { isAnswer, isDeadlock, lostAnswer, sqlState, type Backend } from './errors.ts'
import type { DatabaseLiveness } from './database-liveness.ts'
import { refusePooler } from './refuse-pooler.ts'
import type { ServerAddress } from './server-address.ts'
import type { Log } from './settings.ts'
import { endBackend, writeNothing } from './sql/server.ts'
import { valuesOf, type Statement } from './sql/statement.ts'
import type { Timings } from './timings.ts'
import { valueTypes } from './value-types.ts'
import { waitAtMost } from './wait-at-most.ts'

/** Connection of a transaction. */
export interface Connection {
  run<Values, Row>(statement: Statement<Values, Row>, values: NoInfer<Values>): Promise<Row[]>
}

/**
 * Pool of connections with the same settings. An error before a statement was sent is thrown unchanged; then nothing
 * was done.
 */
export interface Connections extends Connection {
  /** Runs a prepared statement. Runs it again after a deadlock. Throws a `LostAnswer` if the connection breaks. */
  run<Values, Row>(statement: Statement<Values, Row>, values: NoInfer<Values>): Promise<Row[]>
  /**
   * Runs `work` in a transaction, which is rolled back if `work` throws. Runs `work` again after a deadlock. Throws a
   * `LostAnswer` if the connection breaks at any statement.
   */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /**
   * Waits until everything that was visible before the call is as durable as an answered commit, so that a synchronous
   * standby has it too. To be called before reporting as done what another connection wrote (docs/decisions/0072).
   */
  confirm(): Promise<void>
  /** Returns a connection in the form that kysely needs. The caller must release it. */
  connect(): Promise<PostgresPoolClient>
  /**
   * The same connections for calls with a waiting client. As soon as the database is unreachable, statements that were
   * sent fail with a `LostAnswer`, and all other calls fail at once with an `isUnreachable` error.
   */
  readonly failFast: Connections
  /** Returns how many connections are in use. */
  use(): PoolUse
  /** Time for which `retryOnConnectionLoss` runs a statement again after lost answers. */
  readonly retrySeconds: number
  /** Ends each connection when it becomes free. After `seconds`, ends the connections that are still in use. */
  close(seconds: number): Promise<void>
}

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

const deadlocksMax = 20
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

export function openConnections(options: ConnectionOptions, liveness: DatabaseLiveness, log: Log): Connections {
  /**
   * Number of outages before each connection was made. After a later outage, the connection may be dead although no
   * error was reported.
   */
  const outagesBefore = new WeakMap<ClientBase, number>()
  const backends = new WeakMap<ClientBase, Backend>()
  const broken = new WeakSet<ClientBase>()
  /** Connections on which the server answered a commit although the standby had not confirmed it. */
  const unconfirmed = new WeakSet<ClientBase>()
  const open = new Set<Client>()
  const busy = new Set<Client>()
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
    onConnect: greet,
  })
  pool.on('connect', (client) => {
    outagesBefore.set(client, liveness.outages)
    open.add(client)
  })
  pool.on('remove', (client) => open.delete(client as unknown as Client))
  pool.on('error', (error) => {
    // Not logged while the pool is ending, because that ends idle connections too.
    if (!pool.ending) log.warn(`an idle connection to the database was lost: ${error.message}`)
  })
  liveness.onBack(() => {
    setTimeout(breakOld, lateAnswerSeconds * 1000).unref()
  })

  async function greet(client: ClientBase): Promise<void> {
    // Without a listener, a connection that breaks while it is in use would end the process.
    client.on('error', () => broken.add(client))
    client.on('notice', (notice) => {
      if (endsWaitForStandby(notice)) unconfirmed.add(client)
    })
    const query = { text: greeting(options), query_timeout: options.connectionSeconds * 1000 }
    const answers = (await client.query<Greeted>(query)) as unknown as readonly { rows: readonly Greeted[] }[]
    const backend = answers.at(-1)?.rows[0]
    if (backend === undefined) throw new Error('cannot read the process id of a server connection')
    refusePooler(client, backend.pid)
    backends.set(client, backend)
    if (backend.isWatched) await options.admit(client)
  }

  const isOld = (client: ClientBase): boolean => outagesBefore.get(client) !== liveness.outages

  /** Ends connections whose statement was sent before an outage and is not answered yet. */
  function breakOld(): void {
    for (const client of open) if (busy.has(client) && isOld(client)) void client.end()
  }

  /** Returns a connection. If the server has none left, waits for an existing one to become free. */
  async function connectOrWait(): Promise<PoolClient> {
    const end = performance.now() + options.connectionSeconds * 1000
    for (;;) {
      try {
        return await pool.connect()
      } catch (error) {
        if (sqlState(error) !== noConnectionLeft || open.size === 0 || performance.now() > end) throw error
        await delay(pauseMilliseconds)
      }
    }
  }

  async function take(patience: Patience): Promise<PoolClient> {
    for (;;) {
      let isLate = false
      const connected = async () => {
        const late = await connectOrWait()
        if (isLate) late.release()
        return late
      }
      const client = await patience(connected).catch((error: unknown) => {
        isLate = true
        throw error
      })
      if (isOld(client)) client.release(true)
      else {
        busy.add(client)
        return client
      }
    }
  }

  function release(client: PoolClient): void {
    busy.delete(client)
    client.release(broken.has(client))
  }

  async function send<Values, Row>(
    { client, patience }: Lent,
    statement: Statement<Values, Row>,
    parameters: Values,
  ): Promise<Row[]> {
    const { name, text } = statement
    const values = valuesOf(statement, parameters)
    const begun = performance.now()
    try {
      const { rows } = await patience(() => queryPrepared(client, name, text, values))
      options.timings.took(statement, performance.now() - begun)
      liveness.answered()
      if (unconfirmed.has(client)) throw new Error(endedWait)
      return rows as Row[]
    } catch (error) {
      if (isAnswer(error)) {
        liveness.answered()
        throw error
      }
      giveUp(client, error, statement)
      throw lostAnswer(backends.get(client) ?? nobody, error)
    }
  }

  /**
   * Stops using a connection. After a time-out it also ends the server process, because a statement that waits for a
   * standby has no time limit of its own.
   */
  function giveUp(client: ClientBase, error: unknown, statement?: unknown): void {
    broken.add(client)
    const backend = backends.get(client)
    if (backend === undefined || statement === endBackend || !isTimeLimit(error)) return
    void withConnection(impatience, (lent) => send(lent, endBackend, backend)).catch(() => undefined)
  }

  async function query({ client, patience }: Lent, text: string, values: unknown[]): Promise<QueryResult> {
    const ended = liveness.began()
    try {
      const result = await patience(() => client.query(text, values))
      if (unconfirmed.has(client)) throw new Error(endedWait)
      ended(true)
      return result
    } catch (error) {
      ended(isAnswer(error))
      options.failed(error)
      if (!isAnswer(error)) giveUp(client, error)
      throw error
    }
  }

  async function withConnection<T>(patience: Patience, work: (lent: Lent) => Promise<T>): Promise<T> {
    const ended = liveness.began()
    for (let attempt = 1; ; attempt++) {
      let client: PoolClient | undefined
      try {
        client = await take(patience)
        const result = await work({ client, patience })
        ended(true)
        return result
      } catch (error) {
        if (isDeadlock(error) && attempt < deadlocksMax) continue
        ended(isAnswer(error))
        options.failed(error)
        throw error
      } finally {
        if (client !== undefined) release(client)
      }
    }
  }

  async function withTransaction<T>(lent: Lent, work: (connection: Connection) => Promise<T>): Promise<T> {
    const plain = (text: string) => send(lent, { name: '', text, valuesOf: () => [] }, undefined)
    try {
      await plain('begin')
      const result = await work({ run: (statement, values) => send(lent, statement, values) })
      await plain('commit')
      return result
    } catch (error) {
      // A broken connection needs no rollback, because its end rolls back.
      if (!broken.has(lent.client)) await plain('rollback').catch(() => undefined)
      throw error
    }
  }

  async function close(seconds: number): Promise<void> {
    await waitAtMost(seconds, pool.end())
    // Ends connections that are still in use, so that their callers get an error.
    for (const client of open) void client.end()
  }

  const having = (patience: Patience): Omit<Connections, 'failFast'> => ({
    run: (statement, values) => withConnection(patience, (lent) => send(lent, statement, values)),
    confirm: confirming(() => withConnection(patience, (lent) => send(lent, writeNothing, {}))),
    transaction: (work) => withConnection(patience, (lent) => withTransaction(lent, work)),
    connect: async () => {
      const ended = liveness.began()
      const client = await take(patience).catch((error: unknown) => {
        ended(isAnswer(error))
        options.failed(error)
        throw error
      })
      ended()
      const run = (text: string, values: unknown[]) => query({ client, patience }, text, values)
      return {
        query: run as unknown as PostgresPoolClient['query'],
        release: () => release(client),
      }
    },
    use: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    retrySeconds: options.retrySeconds,
    close,
  })
  const impatience: Patience = (work) => liveness.failFast(work)
  const impatient = having(impatience)
  const failFast: Connections = {
    ...impatient,
    get failFast() {
      return failFast
    },
  }
  return { ...having((work) => work()), failFast }
}

/** First answer on a new connection. `isWatched` is true if the database has the tables for watching its primary. */
interface Greeted extends Backend {
  readonly isWatched: boolean
}

/** Connection that a caller has taken from the pool. */
interface Lent {
  readonly client: PoolClient
  readonly patience: Patience
}

/** Runs work, and may reject earlier than the work does, such as when the database becomes unreachable. */
type Patience = <T>(work: () => Promise<T>) => Promise<T>

/** Makes a function that confirms earlier commits by a write. Concurrent callers share the next write. */
function confirming(write: () => Promise<unknown>): () => Promise<void> {
  const writes = batcher<undefined, true>({
    inFlightMax: 2,
    jobsMax: Infinity,
    weightMax: Infinity,
    weight: () => 0,
    run: async (callers) => {
      await write()
      return callers.map(() => true)
    },
  })
  return async () => {
    await writes.add(undefined)
  }
}

const endedWait = 'the wait for a standby was ended: the standby may lack the commit'

/**
 * Returns true for the warning that precedes the answer to a commit whose wait was cancelled. The routine identifies
 * the warning, because its text may be translated.
 */
const endsWaitForStandby = (notice: { readonly routine?: string | undefined }): boolean =>
  notice.routine === 'SyncRepWaitForLSN'

/** Returns true for the driver's error after `query_timeout`. */
const isTimeLimit = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

const nobody: Backend = { pid: 0, start: '0' }

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
