import pg from 'pg'
import type { Cluster } from './cluster.ts'
import { role } from './access.ts'
import { codeOf, unless } from './errors.ts'
import { readPidFile } from './postmaster.ts'
import { isAnotherFolder, isSameFolder } from './same-folder.ts'
import { assertPrivate, port } from './socket-folder.ts'

/**
 * Each process that uses a cluster has a usage lease: one idle connection that holds a shared advisory lock. The server releases
 * the lock when the process ends, however it ends, so the count is always right.
 */
export interface UsageLease {
  readonly socketFolder: string
  readonly client: Client
}

/** The types of `pg` leave these two out. */
type Client = pg.Client & { ref(): void; unref(): void }

/** Why there is no lease: nothing listens; the server is not ready; or unknown. */
export type NoLease = { readonly reason: 'not-running' | 'not-ready' | 'unclear'; readonly error: unknown }

// Any two numbers: they are used in the database `postgres` of this cluster only.
const usageKey = 7_201_301
const databaseKey = 7_201_302

/** Tries once to take a usage lease, at the socket in `socketFolder` or in the folder that the pid file names. */
export const takeUsageLease = async (cluster: Cluster, socketFolder: string): Promise<UsageLease | NoLease> => {
  const said = (await readPidFile(cluster))?.socketFolder
  const first = await takeUsageLeaseAt(cluster, socketFolder, false)
  if ('client' in first || first.reason !== 'not-running' || said === undefined || said === socketFolder) return first
  return takeUsageLeaseAt(cluster, said, true)
}

/**
 * Whether the server at the other end works on `folder`. A pid file that was copied leads to the server of the original, so where that
 * was followed (`said`) the server must name this folder; at the socket of the folder itself it must not name another one.
 */
const worksOn = async (client: Client, folder: string, said: boolean): Promise<boolean> => {
  const { rows } = await client.query<{ data_directory: string }>('show data_directory')
  const named = rows[0]?.data_directory ?? ''
  return said ? isSameFolder(named, folder) : !(await isAnotherFolder(named, folder))
}

const takeUsageLeaseAt = async (
  { folder, runAsUser }: Cluster,
  socketFolder: string,
  said: boolean,
): Promise<UsageLease | NoLease> => {
  if (socketFolder !== folder) await unless(['ENOENT'], assertPrivate(socketFolder, runAsUser))
  const client = clientOf(socketFolder)
  // A lost connection shows at the next query, or as 'end' to the holder of the lease.
  client.on('error', () => undefined)
  try {
    await client.connect()
    if (!(await worksOn(client, folder, said))) {
      await client.end()
      return { reason: 'not-running', error: new Error('it is the server of another folder') }
    }
    await client.query('select pg_advisory_lock_shared($1)', [usageKey])
    await makeDatabase(client)
    client.unref()
    return { socketFolder, client }
  } catch (error) {
    await client.end().catch(() => undefined)
    return { reason: reasonOf(error), error }
  }
}

const clientOf = (socketFolder: string): Client =>
  new pg.Client({
    host: socketFolder,
    port,
    user: role,
    database: 'postgres',
    ssl: false,
    application_name: 'gateway usage lease',
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
  }) as Client

const reasonOf = (error: unknown): NoLease['reason'] => {
  const code = codeOf(error)
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'not-running'
  // Starting, recovering, shutting down (57P03, 57P02, 57P01), or all connections taken (53300).
  if (code === '57P03' || code === '57P02' || code === '57P01' || code === '53300') return 'not-ready'
  if (code === undefined || /^E[A-Z]+$/.test(code)) return 'unclear'
  throw error
}

const makeDatabase = async (client: pg.Client): Promise<void> => {
  const isMade = async () => (await client.query('select from pg_database where datname = $1', [role])).rowCount === 1
  if (await isMade()) return
  await client.query('select pg_advisory_lock($1)', [databaseKey])
  if (!(await isMade())) await client.query(`create database ${role} template template0`)
  await client.query('select pg_advisory_unlock($1)', [databaseKey])
}

/**
 * Releases the lease. True for the last one; then nobody can take a lease until the server has stopped or
 * `client` has ended.
 */
export const releaseUsageLease = async ({ client }: UsageLease): Promise<boolean> => {
  client.ref()
  await client.query('select pg_advisory_unlock_shared($1)', [usageKey])
  const { rows } = await client.query<{ last: boolean }>('select pg_try_advisory_lock($1) as last', [usageKey])
  return rows[0]?.last === true
}
