import { access, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  dropUnfinished,
  existingDataDir,
  findCluster,
  prepareDataDir,
  databaseGone,
  leftOf,
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
   * What `pg` and libpq take: superuser `gateway` on database `gateway` (UTF8, locale C) over a Unix socket. No
   * password: the kernel says who connects, and only the run-as user of the data and root are let in.
   */
  readonly connectionString: string
  /**
   * Gives up the use of the server, and stops it, whoever started it, if nobody else uses it. Close your connections
   * first: stopping does not wait for them. A second call changes nothing. Throws if the server does not stop within 40
   * s.
   */
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  /** The folder for the data, made if it is not there; the cluster is `<dataDir>/postgres`. */
  readonly dataDir: string
  /** Settings of PostgreSQL for a server that this call starts; one that already runs keeps its own. */
  readonly settings?: Settings
  /** Told, in a sentence, what somebody who looks after the machine should know. */
  readonly log?: (line: string) => void
  /**
   * Whether to make a cluster where there is none; true if not given. If not, that is an error, and nothing is made.
   */
  readonly make?: boolean
  /**
   * Names in the data folder that are there only where a cluster was before: beside them none is made without a word.
   */
  readonly companions?: readonly string[]
  /** Aborted while the server is not ready yet: stops it if this call has started it, and throws. */
  readonly signal?: AbortSignal
}

/**
 * A PostgreSQL 18 on the data in `dataDir`: made, started or found running. It survives this process if that is killed,
 * and is started again if it is killed itself. For root: docs/operations/database.md. Errors say what
 * to do.
 */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const { settings = {}, log = () => undefined, signal, make = true, companions = [] } = options
  const dataDir = await (make ? prepareDataDir(options.dataDir) : existingDataDir(options.dataDir))
  const durable = settings.fsync !== 'off' && settings.fsync !== false
  // First: a process that makes the cluster meanwhile makes these after it.
  const left = await leftOf(dataDir, companions)
  let cluster = await findCluster(dataDir)
  if (cluster === undefined && left.length > 0) throw databaseGone(dataDir, left)
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
  `PostgreSQL runs as user id ${runAsUser.uid}, whom other programs may run as too: these can read ${folder}. Start as an ordinary user.`

export const connectionStringTo = (socketFolder: string): string =>
  // Port and sslmode are named so that PGPORT and PGSSLMODE of the environment do not count.
  `postgresql://${role}@/${role}?host=${encodeURIComponent(socketFolder)}&port=${port}&sslmode=disable`

interface Keeper {
  readonly socketFolder: string
  readonly stop: () => Promise<void>
}

/**
 * Takes a new usage lease when it was lost, and starts the server if necessary. Without that a crash of one backend,
 * which ends all connections, would leave us uncounted, and the next process that stops would take the server from
 * under us.
 */
const keepUsageLease = (cluster: Cluster, first: UsageLease, how: ConnectOptions): Keeper => {
  const leaving = new AbortController()
  let lease: Promise<UsageLease | undefined> = Promise.resolve(first)
  let stopped: Promise<void> | undefined
  const isLeaving = () => leaving.signal.aborted

  const watch = (kept: UsageLease): UsageLease => {
    kept.client.once('end', () => {
      if (isLeaving()) return
      how.log('PostgreSQL has ended the connection that marks its use; reaching it again')
      lease = regain()
    })
    return kept
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
    // An error here: the server has just gone, or is going.
    const last = await releaseUsageLease(lease).catch(() => false)
    if (last) await stopPostmaster(cluster)
  } finally {
    await lease.client.end().catch(() => undefined)
  }
}

export interface DatabaseOptions {
  /** The address of a PostgreSQL that somebody else runs; undefined: one of our own. */
  readonly url: string | undefined
  /** Where the data of our own is. */
  readonly dataDir: string
  /** As of `EmbeddedPostgresOptions`, for one of our own. */
  readonly make?: boolean
  readonly companions?: readonly string[]
  readonly log?: (line: string) => void
  /**
   * Aborted: nobody waits any more for one of our own that is not ready; this throws, and leaves none that it started.
   */
  readonly signal?: AbortSignal
}

/** The database of a process of ours: the one at `url`, which is left alone, or the embedded one under `dataDir`. */
export const openDatabase = ({ url, ...own }: DatabaseOptions): Promise<EmbeddedPostgres> =>
  url === undefined
    ? startEmbeddedPostgres(own)
    : Promise.resolve({ connectionString: url, stop: () => Promise.resolve() })

/**
 * Throws if `dataDir` is a copy of another one whose data is still in its place: one that shares the data by a link, or
 * one that was made without stopping the server. `log` is told of what may be such a copy, or was moved.
 */
export const refuseCopy = async (dataDir: string, cluster: Cluster, log: (line: string) => void): Promise<void> => {
  await refuseCopiedLink(dataDir, cluster)
  const named = (await readPidFile(cluster))?.dataFolder
  if (named === undefined || (await isSameFolder(named, cluster.folder))) return
  if (await isSameCluster(named, cluster.folder)) throw madeWhileRunning(cluster.folder, named)
  if ((await runningPid(cluster)) !== undefined) return
  log(
    `${join(cluster.folder, 'postmaster.pid')} was written for ${named}: this data was moved after its PostgreSQL had been ` +
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
      'incomplete, and what waits in it would be sent by both. Make a copy as docs/operations/backup.md says, or name ' +
      `another DATA_DIR. If it is whole (a snapshot of the file system), and it is meant: delete ${join(copy, 'postmaster.pid')}.`,
  )

/** Beside data that is kept outside of its data folder: which one that is. */
const ownerFile = (cluster: Cluster): string => join(dirname(cluster.folder), 'data-dir')

/** A data folder whose data is outside holds a link to it, and so does each copy of that folder. */
const refuseCopiedLink = async (dataDir: string, cluster: Cluster): Promise<void> => {
  if (!isOutside(dirname(cluster.folder))) return
  const owner = await unless(['ENOENT'], readFile(ownerFile(cluster), 'utf8'))
  if (owner === dataDir) return
  if (owner !== undefined && !(await isSameFolder(owner, dataDir))) {
    const linked = await unless(['ENOENT', 'ENOTDIR', 'EACCES'], realpath(join(owner, 'postgres')))
    if (linked === cluster.folder)
      throw new Error(
        `${dataDir} is a copy of ${owner}, but its data is not: ${join(dataDir, 'postgres')} and ${join(owner, 'postgres')} are links ` +
          `to ${cluster.folder}. Delete the link that is too many, and restore a backup in its place or begin with an empty database.`,
      )
  }
  await writeFile(ownerFile(cluster), dataDir, { mode: 0o600 })
}
