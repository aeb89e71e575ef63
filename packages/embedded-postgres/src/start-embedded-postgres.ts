import { access, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  dropUnfinished,
  existingDataDir,
  findCluster,
  prepareDataDir,
  databaseGone,
  existingOf,
  noDatabase,
  isOutside,
  isSameFolder,
  type Cluster,
} from './cluster.ts'
import { createCluster } from './create-cluster.ts'
import { messageOf, unless } from './errors.ts'
import { role, stopPostmaster, readPidFile, runningPid, type Settings } from './postmaster.ts'
import { isShared } from './run-as-user.ts'
import { port, systemIdentifier } from './socket-folder.ts'
import { connectOrStart, releaseUsageLease, type ConnectOptions, type UsageLease } from './usage-lease.ts'

export interface EmbeddedPostgres {
  /**
   * URL for `pg` and libpq: superuser `gateway` on the database `gateway` (UTF8, locale C) over a Unix socket. There is
   * no password, because the kernel identifies the connecting user and only the run-as user and root are admitted.
   */
  readonly connectionString: string
  /**
   * Ends the use of the server, and stops the server if no other process uses it, no matter which process started it.
   * Close all connections first, because stopping does not wait for them. Further calls do nothing. Throws if the
   * server does not stop within 40 s.
   */
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  /** Folder for the data, created if it does not exist. The cluster is in `<dataDir>/postgres`. */
  readonly dataDir: string
  /** Settings of PostgreSQL, if this call starts the server. A running server keeps its settings. */
  readonly settings?: Settings
  /** Called with sentences for the operator. */
  readonly log?: (line: string) => void
  /** True (the default) to create a missing cluster. If false, a missing cluster is an error and nothing is created. */
  readonly make?: boolean
  /**
   * Names of files that exist in the data folder only if a cluster was created there. If one of these files exists and
   * the cluster does not, an error is thrown.
   */
  readonly companions?: readonly string[]
  /** If aborted before the server is ready, stops the server if this call started it, and throws. */
  readonly signal?: AbortSignal
}

/**
 * Returns a running PostgreSQL 18 on the data in `dataDir`; creates and starts it if necessary. The server survives if
 * this process is killed, and is restarted if it is killed itself. docs/operations/database.md describes running as
 * root. Errors say what to do.
 */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const { settings = {}, log = () => undefined, signal, make = true, companions = [] } = options
  const dataDir = await (make ? prepareDataDir(options.dataDir) : existingDataDir(options.dataDir))
  const durable = settings.fsync !== 'off' && settings.fsync !== false
  // This runs before the search for the cluster. A process that creates the cluster at the same time writes these files
  // after it, so they cannot be found here without a cluster.
  const remains = await existingOf(dataDir, companions)
  let cluster = await findCluster(dataDir)
  if (cluster === undefined && remains.length > 0) throw databaseGone(dataDir, remains)
  if (cluster === undefined && !make) throw noDatabase(dataDir)
  cluster ??= await createCluster(dataDir, { durable, log })
  if (await isShared(cluster.runAsUser)) log(sharedWarning(cluster))
  await refuseCopy(dataDir, cluster, log)
  await dropUnfinished(dataDir)
  const lease = await connectOrStart(cluster, { settings, log, ...(signal && { signal }) })
  const keeper = keepUsageLease(cluster, lease, { settings, log })
  return { connectionString: connectionStringTo(keeper.socketFolder), stop: keeper.stop }
}

const sharedWarning = ({ runAsUser, folder }: Cluster): string =>
  `PostgreSQL runs as user id ${runAsUser.uid}, as which other programs may run too. They can read ${folder}. Start as an ordinary user.`

export const connectionStringTo = (socketFolder: string): string =>
  // Has port and sslmode, so that PGPORT and PGSSLMODE of the environment have no effect.
  `postgresql://${role}@/${role}?host=${encodeURIComponent(socketFolder)}&port=${port}&sslmode=disable`

interface Keeper {
  readonly socketFolder: string
  readonly stop: () => Promise<void>
}

/**
 * Acquires a new usage lease whenever the lease is lost, and starts the server if necessary. The crash of one server
 * process ends all connections, and with them the leases. Without a new lease this process would not count as a user,
 * and the next process that ends would stop the server.
 */
const keepUsageLease = (cluster: Cluster, first: UsageLease, how: ConnectOptions): Keeper => {
  const leaving = new AbortController()
  let lease: Promise<UsageLease | undefined> = Promise.resolve(first)
  let stopped: Promise<void> | undefined
  const isLeaving = () => leaving.signal.aborted

  const watch = (current: UsageLease): UsageLease => {
    current.client.once('end', () => {
      if (isLeaving()) return
      how.log('PostgreSQL has ended the connection that marks its use; reconnecting')
      lease = regain()
    })
    return current
  }

  const regain = async (): Promise<UsageLease | undefined> => {
    while (!isLeaving() && (await isThere(cluster))) {
      try {
        return watch(await connectOrStart(cluster, { ...how, signal: leaving.signal }))
      } catch (error) {
        if (!isLeaving()) how.log(messageOf(error))
        await delay(5_000, undefined, { ref: false, signal: leaving.signal }).catch(() => undefined)
      }
    }
    return undefined
  }

  const stop = async (): Promise<void> => {
    leaving.abort()
    const last = await lease
    if (last !== undefined) await leave(cluster, last)
  }

  watch(first)
  return { socketFolder: first.socketFolder, stop: () => (stopped ??= stop()) }
}

const isThere = ({ folder }: Cluster): Promise<boolean> =>
  access(folder).then(
    () => true,
    () => false,
  )

export const leave = async (cluster: Cluster, lease: UsageLease): Promise<void> => {
  try {
    // An error means that the server is stopping or has stopped.
    const last = await releaseUsageLease(lease).catch(() => false)
    if (last) await stopPostmaster(cluster)
  } finally {
    await lease.client.end().catch(() => undefined)
  }
}

export interface DatabaseOptions {
  /** URL of an external PostgreSQL; undefined for the embedded one. */
  readonly url: string | undefined
  /** Data folder of the embedded PostgreSQL. */
  readonly dataDir: string
  /** Options of the embedded PostgreSQL, as in `EmbeddedPostgresOptions`. */
  readonly make?: boolean
  readonly companions?: readonly string[]
  readonly log?: (line: string) => void
  /** If aborted before the embedded PostgreSQL is ready, stops it if this call started it, and throws. */
  readonly signal?: AbortSignal
}

/** Opens the database of a process: the external one at `url`, which is never stopped, or the embedded one. */
export const openDatabase = ({ url, ...own }: DatabaseOptions): Promise<EmbeddedPostgres> =>
  url === undefined
    ? startEmbeddedPostgres(own)
    : Promise.resolve({ connectionString: url, stop: () => Promise.resolve() })

/**
 * Throws if `dataDir` is a copy of another folder whose data still exists: either both share the data by a link, or the
 * copy was made while the server ran. Logs a warning if the data was moved or may be such a copy.
 */
export const refuseCopy = async (dataDir: string, cluster: Cluster, log: (line: string) => void): Promise<void> => {
  await refuseCopiedLink(dataDir, cluster)
  const original = (await readPidFile(cluster))?.dataFolder
  if (original === undefined || (await isSameFolder(original, cluster.folder))) return
  if (await isSameCluster(original, cluster.folder)) throw madeWhileRunning(cluster.folder, original)
  if ((await runningPid(cluster)) !== undefined) return
  log(
    `${join(cluster.folder, 'postmaster.pid')} was written for ${original}: this data was moved after its PostgreSQL had been ` +
      'killed, or copied while it ran. Such a copy may be incomplete; restore a backup instead',
  )
}

const isSameCluster = async (one: string, other: string): Promise<boolean> => {
  const found = await unless(['ENOENT', 'ENOTDIR', 'EACCES'], systemIdentifier(one))
  return found !== undefined && found.equals(await systemIdentifier(other))
}

const madeWhileRunning = (copy: string, original: string): Error =>
  new Error(
    `${copy} is a copy of ${original} that was made while PostgreSQL ran there (${join(copy, 'postmaster.pid')} says so): it may be ` +
      'incomplete, and both would send the messages that wait in it. Make a copy as docs/operations/backup.md says, or name ' +
      `another DATA_DIR. If the copy is whole (a snapshot of the file system) and intended, delete ${join(copy, 'postmaster.pid')}.`,
  )

/** File that names the data folder of a cluster stored outside of it. */
const ownerFile = (cluster: Cluster): string => join(dirname(cluster.folder), 'data-dir')

/**
 * Throws if `dataDir` was copied from a data folder whose cluster is stored outside. Both folders then link to one
 * cluster.
 */
const refuseCopiedLink = async (dataDir: string, cluster: Cluster): Promise<void> => {
  if (!isOutside(dirname(cluster.folder))) return
  const owner = await unless(['ENOENT'], readFile(ownerFile(cluster), 'utf8'))
  if (owner === dataDir) return
  if (owner !== undefined && !(await isSameFolder(owner, dataDir))) {
    const linked = await unless(['ENOENT', 'ENOTDIR', 'EACCES'], realpath(join(owner, 'postgres')))
    if (linked === cluster.folder)
      throw new Error(
        `${dataDir} is a copy of ${owner}, but the database was not copied: ${join(dataDir, 'postgres')} and ` +
          `${join(owner, 'postgres')} are links to the same folder, ${cluster.folder}. Delete one of the links. The ` +
          'data folder without it starts with an empty database, into which a backup can be restored.',
      )
  }
  await writeFile(ownerFile(cluster), dataDir, { mode: 0o600 })
}
