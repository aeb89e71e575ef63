import { mkdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import pg from 'pg'
import { twoServers } from '../../packages/adapters-postgres/testing/two-servers.ts'
import { postgresCpu, postmasterOf } from './cpu.ts'

/** Database created for one benchmark. */
export interface Database {
  readonly connectionString: string
  query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** Returns the first column of the first row as a number. */
  number(text: string, values?: readonly unknown[]): Promise<number>
  /** Closes and drops the database. */
  drop(): Promise<void>
}

export interface Server {
  /** True if the benchmark started the server, so that nothing else uses it. */
  readonly isOwn: boolean
  createDatabase(): Promise<Database>
  /** Returns the CPU time of all its processes, in µs, or NaN if the server runs on another machine. */
  cpu(): Promise<number>
  /** Returns the bytes of WAL written since its start. */
  wal(): Promise<number>
  /** Forces a checkpoint, so that a round does not pay for the writes of the previous one. */
  checkpoint(): Promise<void>
  query<Row = Record<string, unknown>>(text: string): Promise<Row[]>
  stop(): Promise<void>
}

/** Returns the server at `url`, or else starts one. If `hasStandby` is set, its commits wait for a standby. */
export async function openServer(folder: string, url: string | undefined, hasStandby: boolean): Promise<Server> {
  if (url !== undefined) return serverAt(url, () => Promise.resolve(), false)
  const dataDir = join(folder, 'server')
  await mkdir(dataDir)
  const { connectionString, stop } = await (hasStandby ? startPair(folder, dataDir) : startOne(dataDir))
  try {
    return await serverAt(connectionString, stop, true)
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts a PostgreSQL with the settings of the embedded one, plus the extension that counts statements. */
async function startOne(dataDir: string) {
  const settings = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'none' }
  const embedded = await startEmbeddedPostgres({ dataDir, settings })
  return {
    connectionString: embedded.connectionString,
    /** Ends the server and keeps its data. */
    end: () => embedded.stop(),
    stop: async (): Promise<void> => {
      await embedded.stop()
      await removeCluster(dataDir)
    },
  }
}

/** Starts a primary and a synchronous standby on this machine. The CPU time is that of the primary. */
async function startPair(folder: string, dataDir: string) {
  const template = await startOne(dataDir)
  const client = new pg.Client(template.connectionString)
  await client.connect()
  const { rows } = await client.query<{ name: string; value: string }>(
    `select name, current_setting(name) as value from pg_settings where source = 'command line' and name !~ '^unix_'`,
  )
  const { rows: backend } = await client.query<{ pid: number }>('select pg_backend_pid() pid')
  const postgres = await readlink(`/proc/${await postmasterOf(backend[0]?.pid ?? 0)}/exe`)
  await client.end()
  await template.end()
  const settings = Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  const pair = await twoServers({ parent: folder, cluster: dataDir, postgres, settings: { ...settings, fsync: 'on' } })
  await pair.synchronous()
  return {
    connectionString: pair.primary.connectionString,
    stop: async (): Promise<void> => {
      await pair.remove()
      await removeCluster(dataDir)
    },
  }
}

async function serverAt(url: string, stop: () => Promise<void>, isOwn: boolean): Promise<Server> {
  const admin = await connect(url)
  const [backend] = await admin.query<{ pid: number }>('select pg_backend_pid() pid')
  const postmaster = await postmasterOf(backend?.pid ?? 0)
  const open = new Set<Database>()
  let databases = 0

  async function createDatabase(): Promise<Database> {
    const name = `gateway_benchmark_${process.pid}_${++databases}`
    await admin.query(`create database ${name}`)
    const connectionString = inDatabase(url, name)
    const connection = await connect(connectionString)
    const database: Database = {
      connectionString,
      query: connection.query,
      number: async (text, values) => Number(Object.values((await connection.query(text, values))[0] ?? {})[0]),
      drop: async () => {
        if (!open.delete(database)) return
        await connection.close()
        await admin.query(`drop database ${name} with (force)`)
      },
    }
    open.add(database)
    return database
  }

  return {
    isOwn,
    createDatabase,
    cpu: () => postgresCpu(postmaster),
    wal: async () => {
      const [row] = await admin.query<{ bytes: string }>(`select pg_current_wal_lsn() - '0/0' bytes`)
      return Number(row?.bytes)
    },
    checkpoint: async () => {
      // The role may lack this right on a foreign server.
      await admin.query('checkpoint').catch((error: unknown) => {
        if (isOwn) throw error
      })
    },
    query: admin.query,
    stop: async () => {
      for (const database of [...open]) await database.drop().catch(() => undefined)
      await admin.close()
      await stop()
    },
  }
}

async function connect(connectionString: string) {
  const pool = new pg.Pool({ connectionString, max: 2, application_name: 'benchmark' })
  pool.on('error', () => undefined)
  await pool.query('select')
  return {
    query: async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
      // Without values, the simple protocol allows several statements.
      const result = await (values.length === 0 ? pool.query(text) : pool.query(text, [...values]))
      return (Array.isArray(result) ? [] : result.rows) as Row[]
    },
    close: () => pool.end(),
  }
}

function inDatabase(url: string, name: string): string {
  const at = /^(postgres(?:ql)?:\/\/[^/]*\/)[^?]*(.*)$/.exec(url)
  if (at === null) throw new Error('DATABASE_URL does not read postgres://user:password@host:port/database')
  return `${at[1] ?? ''}${name}${at[2] ?? ''}`
}
