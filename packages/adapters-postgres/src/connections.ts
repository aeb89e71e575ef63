import type { PostgresPoolClient } from 'kysely'
import { Pool, type Client, type ClientBase, type PoolClient, type QueryResult } from 'pg'
import { isAnswer, isDeadlock, lostAnswer, type Backend } from './errors.ts'
import type { Log } from './settings.ts'
import type { HotStatement } from './sql/hot-statement.ts'
import { valueTypes } from './value-types.ts'
import { within } from './within.ts'

/** One connection, while a transaction has it. */
export interface Connection {
  run<Row>(statement: HotStatement<Row>, values: readonly unknown[]): Promise<Row[]>
}

/** Connections that are alike. What fails before a statement was sent throws as it is: then nothing was done. */
export interface Connections extends Connection {
  /** Prepared by its name. A deadlock is answered by running it again; a broken connection throws a `LostAnswer`. */
  run<Row>(statement: HotStatement<Row>, values: readonly unknown[]): Promise<Row[]>
  /**
   * Begins, runs `work` and commits; rolls back if `work` throws. A deadlock runs `work` again from its beginning. Where
   * the connection broke, at whatever statement, it throws a `LostAnswer`.
   */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** A connection in the form that kysely wants. Its caller releases it. */
  connect(): Promise<PostgresPoolClient>
  /** Ends the connections as they become free, and after `seconds` breaks those off that are still in use. */
  close(seconds: number): Promise<void>
}

export interface ConnectionOptions {
  readonly connectionString: string
  readonly applicationName: string
  readonly connectionsMax: number
  readonly connectionSeconds: number
  readonly statementSeconds: number
  readonly lockSeconds: number
  /** Names and values of other settings of the server. */
  readonly serverSettings: Readonly<Record<string, string>>
}

const deadlocksMax = 20

export function openConnections(options: ConnectionOptions, log: Log): Connections {
  const backends = new WeakMap<ClientBase, Backend>()
  const broken = new WeakSet<ClientBase>()
  const open = new Set<Client>()
  const pool = new Pool({
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.connectionsMax,
    connectionTimeoutMillis: options.connectionSeconds * 1000,
    query_timeout: (options.statementSeconds + 1) * 1000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types: valueTypes,
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool waits for it
    onConnect: greet,
  })
  pool.on('connect', (client) => open.add(client as unknown as Client))
  pool.on('remove', (client) => open.delete(client as unknown as Client))
  pool.on('error', (error) => {
    log.warn(`an idle connection to the database was lost: ${error.message}`)
  })

  async function greet(client: ClientBase): Promise<void> {
    // Without a listener, a connection that breaks while it is in use would end the process.
    client.on('error', () => broken.add(client))
    const query = { text: greeting(options), query_timeout: options.connectionSeconds * 1000 }
    const answers = (await client.query<Backend>(query)) as unknown as readonly { rows: readonly Backend[] }[]
    const backend = answers.at(-1)?.rows[0]
    if (backend === undefined) throw new Error('the server does not know its own backend')
    backends.set(client, backend)
  }

  async function send<Row>(client: PoolClient, statement: HotStatement<Row>, values: readonly unknown[]) {
    const { name, text } = statement
    try {
      return (await client.query({ name, text, values: [...values] })).rows as Row[]
    } catch (error) {
      if (isAnswer(error)) throw error
      broken.add(client)
      throw lostAnswer(backends.get(client) ?? nobody, error)
    }
  }

  async function query(client: PoolClient, text: string, values: unknown[]): Promise<QueryResult> {
    try {
      return await client.query(text, values)
    } catch (error) {
      if (!isAnswer(error)) broken.add(client)
      throw error
    }
  }

  async function withConnection<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const client = await pool.connect()
      try {
        return await work(client)
      } catch (error) {
        if (!isDeadlock(error) || attempt === deadlocksMax) throw error
      } finally {
        client.release(broken.has(client))
      }
    }
  }

  async function withTransaction<T>(client: PoolClient, work: (connection: Connection) => Promise<T>): Promise<T> {
    const plain = (text: string) => send(client, { name: '', text }, [])
    try {
      await plain('begin')
      const result = await work({ run: (statement, values) => send(client, statement, values) })
      await plain('commit')
      return result
    } catch (error) {
      // What fails here is broken, and is rolled back by its end.
      if (!broken.has(client)) await plain('rollback').catch(() => undefined)
      throw error
    }
  }

  async function close(seconds: number): Promise<void> {
    await within(seconds, pool.end())
    // Ending a connection that is in use breaks it off; its user is told.
    for (const client of open) void client.end()
  }

  return {
    run: (statement, values) => withConnection((client) => send(client, statement, values)),
    transaction: (work) => withConnection((client) => withTransaction(client, work)),
    connect: async () => {
      const client = await pool.connect()
      const asked = (text: string, values: unknown[]) => query(client, text, values)
      return {
        query: asked as unknown as PostgresPoolClient['query'],
        release: () => client.release(broken.has(client)),
      }
    },
    close,
  }
}

const nobody: Backend = { pid: 0, start: '0' }

function greeting({ statementSeconds, lockSeconds, serverSettings }: ConnectionOptions): string {
  const all = {
    statement_timeout: `${Math.ceil(statementSeconds * 1000)}`,
    lock_timeout: `${Math.ceil(lockSeconds * 1000)}`,
    idle_in_transaction_session_timeout: `${Math.ceil((statementSeconds + 1) * 1000)}`,
    ...serverSettings,
  }
  const sets = Object.entries(all).map(([name, value]) => `set ${name} = ${value};`)
  return `${sets.join(' ')} select pid, extract(epoch from backend_start)::text as start
    from pg_stat_activity where pid = pg_backend_pid()`
}
