import pg from 'pg'
import type { Cluster } from './cluster.ts'
import { role } from './access.ts'
import { codeOf, unless } from './errors.ts'
import { readPidFile } from './postmaster.ts'
import { assertPrivate, port } from './socket-folder.ts'

/**
 * Who uses a cluster has a seat: one idle connection that holds a shared advisory lock. The server gives the lock back when
 * the process ends, however it ends, so the seats are always counted right.
 */
export interface Seat {
  readonly socketFolder: string
  readonly client: Client
}

/** The types of `pg` leave these two out. */
type Client = pg.Client & { ref(): void; unref(): void }

/** Why there is no seat: nothing listens; something does and wants us to wait; or neither can be said. */
export type NoSeat = { readonly seat: 'nobody-there' | 'not-now' | 'unclear'; readonly error: unknown }

// Any two numbers; they mean something in the database `postgres` only, which is ours alone.
const seatsKey = 7_201_301
const databaseKey = 7_201_302

/** Tries once to take a seat, at the socket in `socketFolder` or where the pid file says that it is. */
export const takeSeat = async (cluster: Cluster, socketFolder: string): Promise<Seat | NoSeat> => {
  const said = (await readPidFile(cluster))?.socketFolder
  const first = await takeSeatAt(cluster, socketFolder)
  if ('client' in first || first.seat !== 'nobody-there' || said === undefined || said === socketFolder) return first
  return takeSeatAt(cluster, said)
}

const takeSeatAt = async ({ folder, owner }: Cluster, socketFolder: string): Promise<Seat | NoSeat> => {
  if (socketFolder !== folder) await unless(['ENOENT'], assertPrivate(socketFolder, owner))
  const client = clientOf(socketFolder)
  // A lost connection shows at the next query, or as 'end' to whoever keeps the seat.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select pg_advisory_lock_shared($1)', [seatsKey])
    await makeDatabase(client)
    client.unref()
    return { socketFolder, client }
  } catch (error) {
    await client.end().catch(() => undefined)
    return { seat: reasonOf(error), error }
  }
}

const clientOf = (socketFolder: string): Client =>
  new pg.Client({
    host: socketFolder,
    port,
    user: role,
    database: 'postgres',
    ssl: false,
    application_name: 'gateway seat',
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
  }) as Client

const reasonOf = (error: unknown): NoSeat['seat'] => {
  const code = codeOf(error)
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'nobody-there'
  // Starting, recovering, shutting down (57P03, 57P02, 57P01), or all connections taken (53300).
  if (code === '57P03' || code === '57P02' || code === '57P01' || code === '53300') return 'not-now'
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
 * Gives up the seat. Answers true to the last one, and then nobody takes a seat any more until the server is gone or
 * `client` has ended.
 */
export const leaveSeat = async ({ client }: Seat): Promise<boolean> => {
  client.ref()
  await client.query('select pg_advisory_unlock_shared($1)', [seatsKey])
  const { rows } = await client.query<{ last: boolean }>('select pg_try_advisory_lock($1) as last', [seatsKey])
  return rows[0]?.last === true
}
