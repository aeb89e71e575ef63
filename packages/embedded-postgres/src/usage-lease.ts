import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { usableBinaries, type Installed } from './binaries.ts'
import { isAnotherFolder, isSameFolder, type Cluster } from './cluster.ts'
import { codeOf, unless, messageOf, until } from './errors.ts'
import {
  role,
  readPidFile,
  launch,
  logPath,
  runningPid,
  stopPostmaster,
  type Launch,
  type Settings,
} from './postmaster.ts'
import { assertPrivate, port, socketFolderOf } from './socket-folder.ts'

/**
 * Lease of a process that uses a cluster: one idle connection with a shared advisory lock. The server releases the lock
 * when the process ends in any way, so the number of users is always right.
 */
export interface UsageLease {
  readonly socketFolder: string
  readonly client: Client
}

/** Client with two methods that the types of `pg` do not declare. */
type Client = pg.Client & { ref(): void; unref(): void }

/** Reason for which no lease was acquired: nothing listens, the server is not ready, or unknown. */
export type NoLease = { readonly reason: 'not-running' | 'not-ready' | 'unclear'; readonly error: unknown }

// Keys of the advisory locks. They are arbitrary, and are used only in the database `postgres` of this cluster.
const usageKey = 7_201_301
const databaseKey = 7_201_302

/**
 * Tries once to acquire a usage lease. Connects to the socket in `socketFolder`, or to the socket that the pid file
 * names.
 */
export const takeUsageLease = async (cluster: Cluster, socketFolder: string): Promise<UsageLease | NoLease> => {
  const other = (await readPidFile(cluster))?.socketFolder
  const first = await takeUsageLeaseAt(cluster, socketFolder, false)
  if ('client' in first || first.reason !== 'not-running' || other === undefined || other === socketFolder) return first
  return takeUsageLeaseAt(cluster, other, true)
}

/**
 * Returns true if the connected server works on `folder`. A copied pid file leads to the server of the original. So if
 * the socket was found by the pid file (`byPidFile`), the server must name `folder`. If the socket was found in the
 * folder itself, it is enough that the server does not name a different existing folder.
 */
const worksOn = async (client: Client, folder: string, byPidFile: boolean): Promise<boolean> => {
  const { rows } = await client.query<{ data_directory: string }>('show data_directory')
  const directory = rows[0]?.data_directory ?? ''
  return byPidFile ? isSameFolder(directory, folder) : !(await isAnotherFolder(directory, folder))
}

const takeUsageLeaseAt = async (
  { folder, runAsUser }: Cluster,
  socketFolder: string,
  byPidFile: boolean,
): Promise<UsageLease | NoLease> => {
  if (socketFolder !== folder) await unless(['ENOENT'], assertPrivate(socketFolder, runAsUser))
  const client = clientOf(socketFolder)
  // Errors are ignored here, because a lost connection makes the next query fail or is reported to the holder of the
  // lease as 'end'.
  client.on('error', () => undefined)
  try {
    await client.connect()
    if (!(await worksOn(client, folder, byPidFile))) {
      await client.end()
      return { reason: 'not-running', error: new Error('the server uses the data of another folder') }
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

/** SQLSTATE if all connections are in use. */
const noneLeft = '53300'

const reasonOf = (error: unknown): NoLease['reason'] => {
  const code = codeOf(error)
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'not-running'
  // The server is starting, recovering or shutting down, or has no connection left.
  if (code === '57P03' || code === '57P02' || code === '57P01' || code === noneLeft) return 'not-ready'
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
 * Releases the lease. Returns true if it was the last one. In that case no process can acquire a lease until the server
 * has stopped or `client` has disconnected.
 */
export const releaseUsageLease = async ({ client }: UsageLease): Promise<boolean> => {
  client.ref()
  await client.query('select pg_advisory_unlock_shared($1)', [usageKey])
  const { rows } = await client.query<{ last: boolean }>('select pg_try_advisory_lock($1) as last', [usageKey])
  return rows[0]?.last === true
}

/** Time without any answer after which connecting fails. */
const silenceSeconds = 60
/** Time after which waiting is logged. */
const quietSeconds = 3
/** Longest wait for the pid file of a launched server. */
const launchSeconds = 10
/** Time without a free connection after which connecting fails. */
const noneLeftSeconds = 2

export interface ConnectOptions {
  readonly settings: Settings
  readonly log: (line: string) => void
  readonly signal?: AbortSignal
  /** Binaries of a server to start. Defaults to those of the installed package. */
  readonly binaries?: Installed
}

/**
 * Acquires a usage lease of the server of `cluster`. Starts a server if none runs, and waits while one starts, recovers
 * or stops. Throws if a start fails, if nothing answers for 60 s, or if no connection is free for 2 s. If `signal` is
 * aborted, stops a server that it started and throws.
 */
export const connectOrStart = async (
  cluster: Cluster,
  { settings, log, signal, binaries: installed }: ConnectOptions,
): Promise<UsageLease> => {
  const socketFolder = await socketFolderOf(cluster)
  const logLate = afterAWhile(log)
  let launched: Launch | undefined
  let obstacle = ''
  let lastAnswer = performance.now()
  let lastFree = lastAnswer
  for (;;) {
    const answer = await takeUsageLease(cluster, socketFolder)
    if ('client' in answer) return answer
    if (codeOf(answer.error) !== noneLeft) lastFree = performance.now()
    else if (performance.now() - lastFree > noneLeftSeconds * 1000) throw answer.error
    if (signal?.aborted === true) {
      await giveUp(cluster, launched)
      signal.throwIfAborted()
    }
    if (answer.reason === 'not-ready') {
      logLate(`PostgreSQL runs, but is not ready: ${messageOf(answer.error)}`)
      lastAnswer = performance.now()
    } else if (performance.now() - lastAnswer > silenceSeconds * 1000) {
      throw await noAnswer(cluster, socketFolder, answer.error, obstacle || ((await launched?.output()) ?? ''))
    } else if (launched?.ended() === true) {
      obstacle = await passingObstacle(cluster, launched)
      launched = undefined
      await delay(100)
    } else if (answer.reason === 'not-running' && launched === undefined && (await runningPid(cluster)) === undefined) {
      const binaries = await usableBinaries(dirname(cluster.folder), cluster.runAsUser, installed)
      launched = await launch(cluster, { binaries, socketFolder, settings })
    }
    await delay(10)
  }
}

/**
 * Stops a server that this process launched and that is not ready, so no process can have a lease of it. Waits for the
 * pid file first, because it names the process.
 */
const giveUp = async (cluster: Cluster, launched: Launch | undefined): Promise<void> => {
  if (launched === undefined) return
  const isKnown = async () => launched.ended() || (await runningPid(cluster)) !== undefined
  await until(isKnown, launchSeconds * 1000)
  if (!launched.ended()) await stopPostmaster(cluster)
}

/**
 * Returns a function that logs one line, but only once 3 s have passed, because a start is faster and a recovery may
 * take minutes.
 */
const afterAWhile = (log: (line: string) => void): ((line: string) => void) => {
  const begun = performance.now()
  let logged = false
  return (line) => {
    if (logged || performance.now() - begun < quietSeconds * 1000) return
    logged = true
    log(line)
  }
}

/**
 * Returns the log of a failed start if a retry may succeed: another process was faster, a killed server is still
 * running, or another process has already used and stopped the server. Throws for any other reason.
 */
const passingObstacle = async (cluster: Cluster, launched: Launch): Promise<string> => {
  const output = await launched.output()
  if (launched.wasStopped()) return output
  if (/lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(output)) return output
  throw new Error(
    `PostgreSQL does not start. Its log, ${logPath(cluster)}, ends with:\n${lastLines(output)}\n` +
      'Remove the cause and start again, or set DATABASE_URL to a PostgreSQL 15 to 18.',
  )
}

const lastLines = (text: string): string => text.split('\n').slice(-10).join('\n')

const noAnswer = async (cluster: Cluster, socketFolder: string, cause: unknown, output: string): Promise<Error> => {
  const pid = await runningPid(cluster)
  return new Error(
    `PostgreSQL on ${cluster.folder} does not answer at the socket in ${socketFolder}: ${messageOf(cause)}. ` +
      (pid === undefined
        ? `Look at its log, ${logPath(cluster)}.`
        : `It runs as process ${pid}; if its socket is in a /tmp that this process cannot see, start both with the same TMPDIR.`) +
      (output === '' ? '' : `\n${lastLines(output)}`),
    { cause },
  )
}
