import { setTimeout as delay } from 'node:timers/promises'
import { access } from 'node:fs/promises'
import { dropUnfinished, findCluster, prepareDataDir, type Cluster } from './cluster.ts'
import { createCluster, role } from './create-cluster.ts'
import { messageOf } from './errors.ts'
import { stopPostmaster } from './postmaster.ts'
import { reachServer, type Reach } from './reach.ts'
import { leaveSeat, type Seat } from './seat.ts'
import type { Settings } from './settings.ts'
import { port } from './socket-folder.ts'

export interface EmbeddedPostgres {
  /**
   * What `pg` and libpq take: superuser `gateway` on database `gateway` (UTF8, locale C) over a Unix socket. No password; only
   * the owner of the data and root can reach the socket.
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
  /** Aborted while the server is not ready yet: stops it if this call has started it, and throws. */
  readonly signal?: AbortSignal
}

/**
 * Answers a PostgreSQL 18 on the data in `dataDir`: makes the cluster if there is none, uses the server that runs on it, and
 * starts one otherwise. Any number of processes may do so at once, on one server. It outlives this process if that is
 * killed, and the next call finds it; a server that was killed is started again, also while it is in use here (connections
 * break, and the same `connectionString` works again). Installs no signal handlers and does not keep Node running.
 *
 * Run as root, PostgreSQL runs as user 65534 (or as the owner of an existing cluster). If that user cannot enter `dataDir`,
 * the data is in a folder of its own under /var/lib/gateway-postgres, and `<dataDir>/postgres` links to it.
 *
 * Throws an error that says what to do if the folder, the data, the binaries or the socket cannot be used, if the start
 * fails, or if the server does not answer for 60 s.
 */
export const startEmbeddedPostgres = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const { settings = {}, log = () => undefined, signal } = options
  const dataDir = await prepareDataDir(options.dataDir)
  const durable = settings.fsync !== 'off' && settings.fsync !== false
  const cluster = (await findCluster(dataDir)) ?? (await createCluster(dataDir, { durable, log }))
  await dropUnfinished(dataDir)
  const seat = await reachServer(cluster, { settings, log, ...(signal && { signal }) })
  const keeper = keepSeat(cluster, seat, { settings, log })
  return { connectionString: connectionStringTo(keeper.socketFolder), stop: keeper.stop }
}

const connectionStringTo = (socketFolder: string): string =>
  // Port and sslmode are named so that PGPORT and PGSSLMODE of the environment do not count.
  `postgresql://${role}@/${role}?host=${encodeURIComponent(socketFolder)}&port=${port}&sslmode=disable`

interface Keeper {
  readonly socketFolder: string
  readonly stop: () => Promise<void>
}

/**
 * Takes a seat again whenever it was lost, starting the server if need be. Without that a crash of one backend, which ends all
 * connections, would leave us uncounted, and the next process that stops would take the server from under us.
 */
const keepSeat = (cluster: Cluster, first: Seat, how: Reach): Keeper => {
  const leaving = new AbortController()
  let seat: Promise<Seat | undefined> = Promise.resolve(first)
  let stopped: Promise<void> | undefined
  const isLeaving = () => leaving.signal.aborted

  const watch = (kept: Seat): Seat => {
    kept.client.once('end', () => {
      if (isLeaving()) return
      how.log('PostgreSQL has ended the connection that marks its use; reaching it again')
      seat = regain()
    })
    return kept
  }

  const regain = async (): Promise<Seat | undefined> => {
    while (!isLeaving() && (await isThere(cluster))) {
      try {
        return watch(await reachServer(cluster, { ...how, signal: leaving.signal }))
      } catch (error) {
        if (!isLeaving()) how.log(messageOf(error))
        await delay(5_000, undefined, { ref: false, signal: leaving.signal }).catch(() => undefined)
      }
    }
    return undefined
  }

  const stop = async (): Promise<void> => {
    leaving.abort()
    const last = await seat
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

const leave = async (cluster: Cluster, seat: Seat): Promise<void> => {
  try {
    // An error here: the server has just gone, or is going.
    const last = await leaveSeat(seat).catch(() => false)
    if (last) await stopPostmaster(cluster)
  } finally {
    await seat.client.end().catch(() => undefined)
  }
}
