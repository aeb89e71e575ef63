import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readFile, rename, stat, unlink, lchown, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { cleanEnvironment, type Binaries } from './binaries.ts'
import { isAnotherFolder, type Cluster } from './cluster.ts'
import { codeOf, unless, until } from './errors.ts'
import { actingAs, isRoot, isShared, knownUsers, type RunAsUser } from './run-as-user.ts'
import { port } from './socket-folder.ts'

/** What `postmaster.pid` says of the server that runs, or ran until it was killed. */
interface PidFile {
  readonly pid: number
  /** As the server was told it: the folder may have been moved or copied since. */
  readonly dataFolder: string | undefined
  readonly socketFolder: string | undefined
}

/** Answers `undefined` if there is no pid file, or one that is empty yet. */
export const readPidFile = async ({ folder }: Cluster): Promise<PidFile | undefined> => {
  const text = await unless(['ENOENT'], readFile(join(folder, 'postmaster.pid'), 'utf8'))
  const [pid, dataFolder, , , socketFolder] = text?.split('\n') ?? []
  if (!(Number(pid) > 0)) return undefined
  return { pid: Number(pid), dataFolder: dataFolder || undefined, socketFolder: socketFolder || undefined }
}

/** The process id of the server that runs on `cluster`, whoever started it. */
export const runningPid = async (cluster: Cluster): Promise<number | undefined> => {
  const file = await readPidFile(cluster)
  return file !== undefined && (await isPostmaster(file, cluster)) ? file.pid : undefined
}

/** A number from an old pid file can be any process by now; a server works in the folder of its cluster. */
const isPostmaster = async ({ pid, dataFolder }: PidFile, { folder, runAsUser }: Cluster): Promise<boolean> => {
  try {
    // Not permitted means another user's, and then it is not the run-as user's, as whom (or as root) we run.
    process.kill(pid, 0)
  } catch {
    return false
  }
  // Elsewhere nobody tells in which folder a process works: the pid file of a copy names the folder of the original.
  if (process.platform !== 'linux') return dataFolder === undefined || !(await isAnotherFolder(dataFolder, folder))
  try {
    const [of, works, lives] = await Promise.all([stat(`/proc/${pid}`), stat(`/proc/${pid}/cwd`), stat(folder)])
    return of.uid === runAsUser.uid && works.dev === lives.dev && works.ino === lives.ino
  } catch (error) {
    // A process that has ended and waits to be reaped has no folder.
    return codeOf(error) !== 'ENOENT'
  }
}

/** A server that we launched. It outlives this process, and a Ctrl-C in its terminal. */
export interface Launch {
  /** Whether it has ended, which is usual if another server was faster. */
  ended(): boolean
  /** Whether it ended in good order: another process has used it, and stopped it. */
  wasStopped(): boolean
  /** What the log has had since the launch. */
  output(): Promise<string>
}

export const launch = async (
  cluster: Cluster,
  how: { binaries: Binaries; socketFolder: string; settings: Settings },
): Promise<Launch> => {
  const args = ['-D', cluster.folder, ...settingArguments(how.settings, how.socketFolder)]
  await dropStaleLockFiles(cluster, how.socketFolder)
  await writeAccess(cluster)
  const log = logPath(cluster)
  const begins = await startLog(log)
  // The shell opens the log as the run-as user (root must not write through a link that another may have put there) and
  // then becomes the server. Detached: in a session of its own, away from the terminal's signals.
  const script = 'umask 077; log=$1; shift; exec "$@" >>"$log" 2>&1'
  const child = spawn('/bin/sh', ['-c', script, 'sh', log, join(how.binaries, 'bin/postgres'), ...args], {
    cwd: '/',
    env: cleanEnvironment,
    detached: true,
    stdio: 'ignore',
    ...actingAs(cluster.runAsUser),
  })
  let trouble: string | undefined
  child.on('error', (error) => (trouble = error.message))
  child.on('exit', (code, signal) => (trouble ??= `ended with ${signal ?? code ?? 'an error'}`))
  child.unref()
  return {
    ended: () => trouble !== undefined,
    wasStopped: () => child.exitCode === 0,
    output: async () => (await logSince(log, begins)).trim() || `postgres ${trouble ?? 'said nothing'}`,
  }
}

export const logPath = ({ folder }: Cluster): string => join(folder, 'postgres.log')

const logBytesMax = 10_000_000

/** Puts a long log aside, in the place of the one before it, and answers where what comes now begins. */
const startLog = async (log: string): Promise<number> => {
  const size = (await unless(['ENOENT'], stat(log)))?.size ?? 0
  if (size < logBytesMax) return size
  await unless(['ENOENT'], rename(log, `${log}.old`))
  return 0
}

const logSince = async (log: string, begins: number): Promise<string> => {
  const file = await unless(['ENOENT', 'ELOOP'], open(log, constants.O_RDONLY | constants.O_NOFOLLOW))
  if (file === undefined) return ''
  try {
    const { size } = await file.stat()
    const from = Math.max(begins, size - 8_000)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8_000), 0, 8_000, from)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

/**
 * PostgreSQL accepts neither a stale lock file whose number another process of the user has by now (a restarted
 * container, a copy) nor an empty one. If a server runs all the same, PostgreSQL finds its shared memory and does not
 * start.
 */
const dropStaleLockFiles = async (cluster: Cluster, socketFolder: string): Promise<void> => {
  if ((await runningPid(cluster)) !== undefined) return
  for (const path of [join(cluster.folder, 'postmaster.pid'), join(socketFolder, `.s.PGSQL.${port}.lock`)]) {
    const file = await unless(['ENOENT'], stat(path))
    if (file !== undefined && Date.now() - file.mtimeMs >= 2_000) await unless(['ENOENT'], unlink(path))
  }
}

/**
 * Stops the server on `cluster`: at once for everybody connected, with a checkpoint. One that has not stopped after 30
 * s is told to give up, and recovers at the next start. Throws if it runs on after that.
 */
export const stopPostmaster = async (cluster: Cluster): Promise<void> => {
  for (const [signal, seconds] of [
    ['SIGINT', 30],
    ['SIGQUIT', 10],
  ] as const) {
    const pid = await runningPid(cluster)
    if (pid === undefined) return
    await unless(['ESRCH'], signalTo(pid, signal))
    if (await until(async () => (await runningPid(cluster)) !== pid, seconds * 1000)) return
  }
  throw new Error(`PostgreSQL on ${cluster.folder} does not stop; its log is ${logPath(cluster)}.`)
}

// oxlint-disable-next-line typescript/require-await -- an error of kill is to be a rejection
const signalTo = async (pid: number, signal: NodeJS.Signals): Promise<void> => {
  process.kill(pid, signal)
}

/** Settings of PostgreSQL by name, as `postgres -c name=value` takes them. */
export type Settings = Readonly<Record<string, string | number | boolean>>

const megabyte = 1024 * 1024

/** The memory that this process may use: that of the machine or of its container, whichever is less. */
const memoryMegabytes = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity) / megabyte

/**
 * What we set for every cluster, at each start, so that another version can change it. Everything that decides what
 * survives a crash (fsync, full_page_writes, synchronous_commit) stays as PostgreSQL has it: on.
 */
const ours = (memory: number): Settings => ({
  listen_addresses: '',
  max_connections: 200,
  shared_buffers: `${Math.max(16, Math.min(256, Math.floor(memory / 8)))}MB`,
  effective_cache_size: `${Math.max(32, Math.floor(memory / 2))}MB`,
  max_wal_size: '2GB',
  // These binaries have no lz4, and pglz took 0.2 ms a page (docs/decisions/0068).
  wal_compression: 'off',
  random_page_cost: 1.1,
  // Compiling a statement costs more than any of our short ones takes.
  jit: false,
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: false,
  unix_socket_permissions: '0700',
  // Elsewhere the default reaches the disk; on macOS only this one does.
  ...(process.platform === 'darwin' && { wal_sync_method: 'fsync_writethrough' }),
})

/** The arguments of `postgres`: our settings, then `settings`, then the socket folder, which nothing overrides. */
export const settingArguments = (settings: Settings, socketFolder: string): string[] => {
  const all: Settings = { ...ours(memoryMegabytes()), ...settings, unix_socket_directories: listed(socketFolder) }
  return Object.entries(all).flatMap(([name, value]) => {
    if (!/^[a-z_][a-z0-9_.]*$/i.test(name)) throw new Error(`"${name}" is no name of a PostgreSQL setting.`)
    return ['-c', `${name}=${typeof value === 'boolean' ? (value ? 'on' : 'off') : value}`]
  })
}

/** One folder as PostgreSQL reads a list of folders, where a comma or a space would end it. */
const listed = (folder: string): string => `"${folder.replaceAll('"', '""')}"`

/** The one superuser, and the database that `connectionString` names. */
export const role = 'gateway'

/**
 * Says who is let in, as superuser: root and the run-as user, known by the kernel (`peer`), on the socket only. A
 * run-as user whom other programs may run as is not let in. Takes effect when the server starts.
 */
export const writeAccess = async (cluster: Cluster): Promise<void> => {
  const names = await namesOf(cluster.runAsUser)
  // PostgreSQL looks the name of whoever connects up; one that has none is kept out by the mode of the folder alone.
  const isNameless = !isRoot() && names.length === 1
  const way = isNameless ? 'trust' : 'peer map=gateway'
  await replace(cluster, 'pg_hba.conf', `local all ${role} ${way}\n`)
  await replace(cluster, 'pg_ident.conf', names.map((name) => `gateway "${name}" ${role}\n`).join(''))
}

const namesOf = async (runAsUser: RunAsUser): Promise<readonly string[]> => {
  const own = (await knownUsers()).find(({ uid }) => uid === runAsUser.uid)?.name
  return own === undefined || own === 'root' || (await isShared(runAsUser)) ? ['root'] : ['root', own]
}

const heading = '# Written by the gateway at each start.\n'

/** Moved in place whole, and not touched where it is right already. */
const replace = async ({ folder, runAsUser }: Cluster, name: string, text: string): Promise<void> => {
  const path = join(folder, name)
  if ((await unless(['ENOENT'], readFile(path, 'utf8'))) === heading + text) return
  const aside = `${path}.new-${randomBytes(6).toString('hex')}`
  // Exclusive: never through a link that another has put there.
  await writeFile(aside, heading + text, { mode: 0o600, flag: 'wx' })
  if (isRoot()) await lchown(aside, runAsUser.uid, runAsUser.gid)
  await rename(aside, path)
}
