import { setTimeout as delay } from 'node:timers/promises'
import type { PostgresPoolClient } from 'kysely'
import { Pool, Query, type Client, type ClientBase, type PoolClient, type QueryResult } from 'pg'
import { batcher } from './batcher.ts'
import { clientOf } from './client.ts'
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

/** One connection, while a transaction has it. */
export interface Connection {
  run<Values, Row>(statement: Statement<Values, Row>, values: NoInfer<Values>): Promise<Row[]>
}

/** Connections that are alike. What fails before a statement was sent throws as it is: then nothing was done. */
export interface Connections extends Connection {
  /** Prepared by its name. A deadlock is answered by running it again; a broken connection throws a `LostAnswer`. */
  run<Values, Row>(statement: Statement<Values, Row>, values: NoInfer<Values>): Promise<Row[]>
  /**
   * Begins, runs `work` and commits; rolls back if `work` throws. A deadlock runs `work` again from its beginning.
   * Where the connection broke, at whatever statement, it throws a `LostAnswer`.
   */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /**
   * Once it has resolved, everything that could be seen before the call is as safe as what a commit was answered for: a
   * synchronous standby has it too. Whoever read something that another wrote, and tells it as done, calls it between
   * the two (docs/decisions/0072).
   */
  confirm(): Promise<void>
  /** A connection in the form that kysely wants. Its caller releases it. */
  connect(): Promise<PostgresPoolClient>
  /**
   * The same connections for whoever is waited for: once the database is unreachable, what waits fails, a statement
   * that was sent as a `LostAnswer`, and everything else fails at once with an `isUnreachable` error.
   */
  readonly failFast: Connections
  /** How many of them are used now. */
  use(): PoolUse
  /** So long a statement whose answers are lost is run again (`retryOnConnectionLoss`). */
  readonly retrySeconds: number
  /** Ends the connections as they become free, and after `seconds` breaks those off that are still in use. */
  close(seconds: number): Promise<void>
}

/** Connections of one kind: `waiting` counts what waits for one. */
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
  /** Lets a new connection be used, or throws. Called on every database that has the tables for it. */
  readonly admit: (client: ClientBase) => Promise<void>
  /** Told of every statement that fails, and of every connection that cannot be made. */
  readonly failed: (error: unknown) => void
  /** Names and values of other settings of the server. */
  readonly serverSettings: Readonly<Record<string, string>>
}

const deadlocksMax = 20
const noConnectionLeft = '53300'
const pauseMilliseconds = 20

/** After an outage the answer to what was asked before it should come so soon; then its connection counts as lost. */
const lateAnswerSeconds = 2

export function openConnections(options: ConnectionOptions, liveness: DatabaseLiveness, log: Log): Connections {
  /**
   * How often the database had been unreachable when a connection was made: after an outage each may be dead without
   * knowing.
   */
  const outagesBefore = new WeakMap<ClientBase, number>()
  const backends = new WeakMap<ClientBase, Backend>()
  const broken = new WeakSet<ClientBase>()
  /** Connections of which a commit was answered that no standby may have. */
  const unconfirmed = new WeakSet<ClientBase>()
  const open = new Set<Client>()
  const busy = new Set<Client>()
  const pool = new Pool({
    Client: clientOf(options.address),
    application_name: options.applicationName,
    max: options.connectionsMax,
    connectionTimeoutMillis: options.connectionSeconds * 1000,
    query_timeout: (options.statementSeconds + 1) * 1000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types: valueTypes,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it
    onConnect: greet,
  })
  pool.on('connect', (client) => {
    outagesBefore.set(client, liveness.outages())
    open.add(client)
  })
  pool.on('remove', (client) => open.delete(client as unknown as Client))
  pool.on('error', (error) => {
    // The end of the pool ends idle connections, too.
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
    if (backend === undefined) throw new Error('the server does not know its own backend')
    refusePooler(client, backend.pid)
    backends.set(client, backend)
    if (backend.isWatched) await options.admit(client)
  }

  const isOld = (client: ClientBase): boolean => outagesBefore.get(client) !== liveness.outages()

  /** Breaks off what was asked before an outage and is not answered yet. */
  function breakOld(): void {
    for (const client of open) if (busy.has(client) && isOld(client)) void client.end()
  }

  /** Where the server has no connection left, those that there are do: one of them is waited for. */
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
        const taken = await connectOrWait()
        if (isLate) taken.release()
        return taken
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
    { client, patience }: Taken,
    statement: Statement<Values, Row>,
    given: Values,
  ): Promise<Row[]> {
    const { name, text } = statement
    const values = valuesOf(statement, given)
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
   * Nothing more is asked of this connection. What it is still at is ended: a wait for a standby has no time limit of
   * its own.
   */
  function giveUp(client: ClientBase, error: unknown, statement?: unknown): void {
    broken.add(client)
    const backend = backends.get(client)
    if (backend === undefined || statement === endBackend || !isTimeLimit(error)) return
    void withConnection(impatience, (taken) => send(taken, endBackend, backend)).catch(() => undefined)
  }

  async function query({ client, patience }: Taken, text: string, values: unknown[]): Promise<QueryResult> {
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

  async function withConnection<T>(patience: Patience, work: (taken: Taken) => Promise<T>): Promise<T> {
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

  async function withTransaction<T>(taken: Taken, work: (connection: Connection) => Promise<T>): Promise<T> {
    const plain = (text: string) => send(taken, { name: '', text, valuesOf: () => [] }, undefined)
    try {
      await plain('begin')
      const result = await work({ run: (statement, values) => send(taken, statement, values) })
      await plain('commit')
      return result
    } catch (error) {
      // What fails here is broken, and is rolled back by its end.
      if (!broken.has(taken.client)) await plain('rollback').catch(() => undefined)
      throw error
    }
  }

  async function close(seconds: number): Promise<void> {
    await waitAtMost(seconds, pool.end())
    // Ending a connection that is in use breaks it off; its user is told.
    for (const client of open) void client.end()
  }

  const having = (patience: Patience): Omit<Connections, 'failFast'> => ({
    run: (statement, values) => withConnection(patience, (taken) => send(taken, statement, values)),
    confirm: confirming(() => withConnection(patience, (taken) => send(taken, writeNothing, {}))),
    transaction: (work) => withConnection(patience, (taken) => withTransaction(taken, work)),
    connect: async () => {
      const ended = liveness.began()
      const client = await take(patience).catch((error: unknown) => {
        ended(isAnswer(error))
        options.failed(error)
        throw error
      })
      ended()
      const asked = (text: string, values: unknown[]) => query({ client, patience }, text, values)
      return {
        query: asked as unknown as PostgresPoolClient['query'],
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
  const impatience: Patience = liveness.failFast
  const impatient = having(impatience)
  const failFast: Connections = {
    ...impatient,
    get failFast() {
      return failFast
    },
  }
  return { ...having((work) => work()), failFast }
}

/** A new connection: `isWatched` where the database remembers its primary. */
interface Greeted extends Backend {
  readonly isWatched: boolean
}

interface Taken {
  readonly client: PoolClient
  readonly patience: Patience
}

/** How long to wait for the database: what is given, or what fails sooner. */
type Patience = <T>(work: () => Promise<T>) => Promise<T>

/** Callers that come while others are confirmed share the next write. */
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

/**
 * What `client.query({ name, text, values })` does. The driver copies such an object with the descriptors of its
 * properties, which costs 2 to 3 µs a statement; a query it takes as it is.
 */
const queryPrepared = (client: ClientBase, name: string, text: string, values: unknown[]): Promise<QueryResult> =>
  new Promise((resolve, reject) => {
    const query = new Query(text, values)
    const callback = (error: Error | null, result: QueryResult): void =>
      error === null ? resolve(result) : reject(error)
    client.query(Object.assign(query, { name, callback }))
  })

const endedWait = 'the wait for a standby was ended: it may not have what was committed'

/** The warning before the answer to a commit whose wait was cancelled. Its text is translated, this is not. */
const endsWaitForStandby = (notice: { readonly routine?: string | undefined }): boolean =>
  notice.routine === 'SyncRepWaitForLSN'

/** Of the driver: nothing came in time. */
const isTimeLimit = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

const nobody: Backend = { pid: 0, start: '0' }

function greeting({ statementSeconds, lockSeconds, serverSettings }: ConnectionOptions): string {
  const all = {
    statement_timeout: `${Math.ceil(statementSeconds * 1000)}`,
    lock_timeout: `${Math.ceil(lockSeconds * 1000)}`,
    idle_in_transaction_session_timeout: `${Math.ceil((statementSeconds + 1) * 1000)}`,
    // Where it were less, a wait for a standby that was ended would look like a commit.
    client_min_messages: 'warning',
    ...serverSettings,
  }
  const sets = Object.entries(all).map(([name, value]) => `set ${name} = ${value};`)
  return `${sets.join(' ')} select pid, extract(epoch from backend_start)::text as start,
    to_regclass('primary_look') is not null as "isWatched"
    from pg_stat_activity where pid = pg_backend_pid()`
}
