import type { PostgresPoolClient } from 'kysely'
import type { ClientBase, PoolClient, QueryResult } from 'pg'
import { Batcher } from './batcher.ts'
import { ClientPool, type ConnectionOptions, type Patience, type PoolUse } from './client-pool.ts'
import type { DatabaseLiveness } from './database-liveness.ts'
import { queryPrepared } from './driver.ts'
import { isAnswer, isDeadlock, lostAnswer, type Backend } from './errors.ts'
import type { Log } from './settings.ts'
import { endBackend, writeNothing } from './sql/server.ts'
import { valuesOf, type Statement } from './sql/statement.ts'

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

const deadlocksMax = 20

/** Connection that a caller has taken from the pool. */
interface Lent {
  readonly client: PoolClient
  readonly patience: Patience
}

export function openConnections(options: ConnectionOptions, liveness: DatabaseLiveness, log: Log): Connections {
  const pool = new ClientPool(options, liveness, log)
  const runner = new StatementRunner(pool, options, liveness)
  const having = (patience: Patience): Omit<Connections, 'failFast'> => ({
    run: (statement, values) => runner.withConnection(patience, (lent) => runner.send(lent, statement, values)),
    confirm: confirming(() => runner.withConnection(patience, (lent) => runner.send(lent, writeNothing, {}))),
    transaction: (work) => runner.withConnection(patience, (lent) => runner.withTransaction(lent, work)),
    connect: () => runner.connect(patience),
    use: () => pool.use(),
    retrySeconds: options.retrySeconds,
    close: (seconds) => pool.close(seconds),
  })
  const impatient = having((work) => liveness.failFast(work))
  const failFast: Connections = {
    ...impatient,
    get failFast() {
      return failFast
    },
  }
  return { ...having((work) => work()), failFast }
}

/**
 * Runs statements on connections of a pool, and reports to the liveness of the database whether they were answered. A
 * statement that is not answered breaks its connection.
 */
class StatementRunner {
  readonly #pool: ClientPool
  readonly #options: ConnectionOptions
  readonly #liveness: DatabaseLiveness

  constructor(pool: ClientPool, options: ConnectionOptions, liveness: DatabaseLiveness) {
    this.#pool = pool
    this.#options = options
    this.#liveness = liveness
  }

  /** Runs `work` on a connection. Runs it again after a deadlock. */
  async withConnection<T>(patience: Patience, work: (lent: Lent) => Promise<T>): Promise<T> {
    const ended = this.#liveness.began()
    for (let attempt = 1; ; attempt++) {
      let client: PoolClient | undefined
      try {
        client = await this.#pool.take(patience)
        const result = await work({ client, patience })
        ended(true)
        return result
      } catch (error) {
        if (isDeadlock(error) && attempt < deadlocksMax) continue
        ended(isAnswer(error))
        this.#options.failed(error)
        throw error
      } finally {
        if (client !== undefined) this.#pool.release(client)
      }
    }
  }

  /** Runs `work` in a transaction, which is rolled back if `work` throws. */
  async withTransaction<T>(lent: Lent, work: (connection: Connection) => Promise<T>): Promise<T> {
    const plain = (text: string) => this.send(lent, { name: '', text, valuesOf: () => [] }, undefined)
    try {
      await plain('begin')
      const result = await work({ run: (statement, values) => this.send(lent, statement, values) })
      await plain('commit')
      return result
    } catch (error) {
      // A broken connection needs no rollback, because its end rolls back.
      if (!this.#pool.isBroken(lent.client)) await plain('rollback').catch(() => undefined)
      throw error
    }
  }

  /** Sends a prepared statement. Throws a `LostAnswer` if it is not answered. */
  async send<Values, Row>(
    { client, patience }: Lent,
    statement: Statement<Values, Row>,
    parameters: Values,
  ): Promise<Row[]> {
    const { name, text } = statement
    const values = valuesOf(statement, parameters)
    const begun = performance.now()
    try {
      const { rows } = await patience(() => queryPrepared(client, name, text, values))
      this.#options.timings.took(statement, performance.now() - begun)
      this.#liveness.answered()
      this.#pool.refuseUnconfirmed(client)
      return rows as Row[]
    } catch (error) {
      if (isAnswer(error)) {
        this.#liveness.answered()
        throw error
      }
      this.#giveUp(client, error, statement)
      throw lostAnswer(this.#pool.backendOf(client) ?? nobody, error)
    }
  }

  /** Returns a connection in the form that kysely needs. */
  async connect(patience: Patience): Promise<PostgresPoolClient> {
    const ended = this.#liveness.began()
    const client = await this.#pool.take(patience).catch((error: unknown) => {
      ended(isAnswer(error))
      this.#options.failed(error)
      throw error
    })
    ended()
    const run = (text: string, values: unknown[]) => this.#query({ client, patience }, text, values)
    return {
      query: run as unknown as PostgresPoolClient['query'],
      release: () => this.#pool.release(client),
    }
  }

  async #query({ client, patience }: Lent, text: string, values: unknown[]): Promise<QueryResult> {
    const ended = this.#liveness.began()
    try {
      const result = await patience(() => client.query(text, values))
      this.#pool.refuseUnconfirmed(client)
      ended(true)
      return result
    } catch (error) {
      ended(isAnswer(error))
      this.#options.failed(error)
      if (!isAnswer(error)) this.#giveUp(client, error)
      throw error
    }
  }

  /**
   * Stops using a connection. After a time-out it also ends the server process, because a statement that waits for a
   * standby has no time limit of its own.
   */
  #giveUp(client: ClientBase, error: unknown, statement?: unknown): void {
    this.#pool.markBroken(client)
    const backend = this.#pool.backendOf(client)
    if (backend === undefined || statement === endBackend || !isTimeLimit(error)) return
    const impatience: Patience = (work) => this.#liveness.failFast(work)
    void this.withConnection(impatience, (lent) => this.send(lent, endBackend, backend)).catch(() => undefined)
  }
}

/** Makes a function that confirms earlier commits by a write. Concurrent callers share the next write. */
function confirming(write: () => Promise<unknown>): () => Promise<void> {
  const writes = new Batcher<undefined, true>({
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

/** Returns true for the driver's error after `query_timeout`. */
const isTimeLimit = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

const nobody: Backend = { pid: 0, start: '0' }
