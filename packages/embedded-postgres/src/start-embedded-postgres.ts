import { setTimeout as delay } from 'node:timers/promises'
import { access } from 'node:fs/promises'
import { dropUnfinished, existingDataDir, findCluster, prepareDataDir, type Cluster } from './cluster.ts'
import { role } from './access.ts'
import { createCluster } from './create-cluster.ts'
import { databaseGone, leftOf, noDatabase } from './no-database.ts'
import { messageOf } from './errors.ts'
import { isShared } from './run-as-user.ts'
import { stopPostmaster } from './postmaster.ts'
import { refuseCopy } from './refuse-copy.ts'
import { connectOrStart, type ConnectOptions } from './connect-or-start.ts'
import { releaseUsageLease, type UsageLease } from './usage-lease.ts'
import type { Settings } from './settings.ts'
import { port } from './socket-folder.ts'

export interface EmbeddedPostgres {
  /**
   * What `pg` and libpq take: superuser `gateway` on database `gateway` (UTF8, locale C) over a Unix socket. No password: the
   * kernel says who connects, and only the run-as user of the data and root are let in.
   */
  readonly connectionString: string
  /**
   * Gives up the use of the server, and stops it, whoever started it, if nobody else uses it. Close your connections first:
   * stopping does not wait for them. A second call changes nothing. Throws if the server does not stop within 40 s.
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
  /** Whether to make a cluster where there is none; true if not given. If not, that is an error, and nothing is made. */
  readonly make?: boolean
  /** Names in the data folder that are there only where a cluster was before: beside them none is made without a word. */
  readonly companions?: readonly string[]
  /** Aborted while the server is not ready yet: stops it if this call has started it, and throws. */
  readonly signal?: AbortSignal
}

/**
 * A PostgreSQL 18 on the data in `dataDir`: made, started or found running. It survives this process if that is killed, and is started
 * again if it is killed itself. For root: docs/operations.md, "The embedded PostgreSQL". Errors say what to do.
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

const connectionStringTo = (socketFolder: string): string =>
  // Port and sslmode are named so that PGPORT and PGSSLMODE of the environment do not count.
  `postgresql://${role}@/${role}?host=${encodeURIComponent(socketFolder)}&port=${port}&sslmode=disable`

interface Keeper {
  readonly socketFolder: string
  readonly stop: () => Promise<void>
}

/**
 * Takes a new usage lease when it was lost, and starts the server if necessary. Without that a crash of one backend, which ends all
 * connections, would leave us uncounted, and the next process that stops would take the server from under us.
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

const leave = async (cluster: Cluster, lease: UsageLease): Promise<void> => {
  try {
    // An error here: the server has just gone, or is going.
    const last = await releaseUsageLease(lease).catch(() => false)
    if (last) await stopPostmaster(cluster)
  } finally {
    await lease.client.end().catch(() => undefined)
  }
}
