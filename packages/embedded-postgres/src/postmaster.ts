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

/** Contents of `postmaster.pid`, about the running server or one that was killed. */
interface PidFile {
  readonly pid: number
  /** Data folder at the start of the server. It may have been moved or copied since. */
  readonly dataFolder: string | undefined
  readonly socketFolder: string | undefined
}

/** Reads the pid file. Returns `undefined` if it does not exist or is still empty. */
export const readPidFile = async ({ folder }: Cluster): Promise<PidFile | undefined> => {
  const text = await unless(['ENOENT'], readFile(join(folder, 'postmaster.pid'), 'utf8'))
  const [pid, dataFolder, , , socketFolder] = text?.split('\n') ?? []
  if (!(Number(pid) > 0)) return undefined
  return { pid: Number(pid), dataFolder: dataFolder || undefined, socketFolder: socketFolder || undefined }
}

/** Returns the process id of the server that runs on `cluster`, no matter which process started it. */
export const runningPid = async (cluster: Cluster): Promise<number | undefined> => {
  const file = await readPidFile(cluster)
  return file !== undefined && (await isPostmaster(file, cluster)) ? file.pid : undefined
}

/**
 * Returns true if the process of a pid file is the server of `cluster`. Another process may have reused the id, but
 * only a server has the folder of the cluster as its working directory.
 */
const isPostmaster = async ({ pid, dataFolder }: PidFile, { folder, runAsUser }: Cluster): Promise<boolean> => {
  try {
    // If `kill` fails with EPERM, the process belongs to a user other than the run-as user, because this process runs
    // as the run-as user or as root.
    process.kill(pid, 0)
  } catch {
    return false
  }
  // Other platforms have no /proc. There, only the folder in the pid file shows that it was copied from another
  // cluster.
  if (process.platform !== 'linux') return dataFolder === undefined || !(await isAnotherFolder(dataFolder, folder))
  try {
    const [of, works, lives] = await Promise.all([stat(`/proc/${pid}`), stat(`/proc/${pid}/cwd`), stat(folder)])
    return of.uid === runAsUser.uid && works.dev === lives.dev && works.ino === lives.ino
  } catch (error) {
    // A process that has ended and waits to be reaped has no working directory.
    return codeOf(error) !== 'ENOENT'
  }
}

/** Server that this process launched. It survives this process, and a Ctrl-C in its terminal. */
export interface Launch {
  /** Returns true if the server has ended, which is normal if another process started one earlier. */
  ended(): boolean
  /** Returns true if the server ended in good order, because another process used and stopped it. */
  wasStopped(): boolean
  /** Returns the log since the launch. */
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
  // The shell opens the log as the run-as user, because root must not write through a link that another user may have
  // put there, and then becomes the server. It is detached, so that signals of the terminal do not reach it.
  const script = 'umask 077; log=$1; shift; exec "$@" >>"$log" 2>&1'
  const child = spawn('/bin/sh', ['-c', script, 'sh', log, join(how.binaries, 'bin/postgres'), ...args], {
    cwd: '/',
    env: cleanEnvironment,
    detached: true,
    stdio: 'ignore',
    ...actingAs(cluster.runAsUser),
  })
  let problem: string | undefined
  child.on('error', (error) => (problem = error.message))
  child.on('exit', (code, signal) => (problem ??= `ended with ${signal ?? code ?? 'an error'}`))
  child.unref()
  return {
    ended: () => problem !== undefined,
    wasStopped: () => child.exitCode === 0,
    output: async () => (await logSince(log, begins)).trim() || `postgres ${problem ?? 'printed nothing'}`,
  }
}

export const logPath = ({ folder }: Cluster): string => join(folder, 'postgres.log')

const logBytesMax = 10_000_000

/** Rotates a long log, replacing the previous old one, and returns the offset at which new lines begin. */
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
 * Deletes stale lock files. PostgreSQL does not start if a lock file is empty, or if it contains a process id that
 * another process of the same user has now (after a restart of a container, or in a copy). If a server runs
 * nevertheless, the new one does not start, because PostgreSQL finds the shared memory of the first.
 */
const dropStaleLockFiles = async (cluster: Cluster, socketFolder: string): Promise<void> => {
  if ((await runningPid(cluster)) !== undefined) return
  for (const path of [join(cluster.folder, 'postmaster.pid'), join(socketFolder, `.s.PGSQL.${port}.lock`)]) {
    const file = await unless(['ENOENT'], stat(path))
    if (file !== undefined && Date.now() - file.mtimeMs >= 2_000) await unless(['ENOENT'], unlink(path))
  }
}

/**
 * Stops the server on `cluster`: disconnects all clients at once and writes a checkpoint. If the server has not stopped
 * after 30 s, aborts it; it then recovers at the next start. Throws if the server still runs after that.
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

// oxlint-disable-next-line typescript/require-await -- makes an error of `kill` a rejection
const signalTo = async (pid: number, signal: NodeJS.Signals): Promise<void> => {
  process.kill(pid, signal)
}

/** Settings of PostgreSQL by name, for `postgres -c name=value`. */
export type Settings = Readonly<Record<string, string | number | boolean>>

const megabyte = 1024 * 1024

/** Returns the memory that this process may use, in MB: that of the machine or of its container, whichever is less. */
const memoryMegabytes = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity) / megabyte

/**
 * Settings of every cluster, applied at each start so that another version can change them. The settings that decide
 * what survives a crash (fsync, full_page_writes, synchronous_commit) keep PostgreSQL's default, on.
 */
const ownSettings = (memory: number): Settings => ({
  listen_addresses: '',
  max_connections: 200,
  shared_buffers: `${Math.max(16, Math.min(256, Math.floor(memory / 8)))}MB`,
  effective_cache_size: `${Math.max(32, Math.floor(memory / 2))}MB`,
  max_wal_size: '2GB',
  // Off, because these binaries have no lz4 and pglz took 0.2 ms a page (docs/decisions/0068).
  wal_compression: 'off',
  random_page_cost: 1.1,
  // Off, because compiling a statement costs more than running one of the gateway's.
  jit: false,
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: false,
  unix_socket_permissions: '0700',
  // On macOS only this method reaches the disk. On other platforms the default does.
  ...(process.platform === 'darwin' && { wal_sync_method: 'fsync_writethrough' }),
})

/**
 * Returns arguments for `postgres`: own settings, then `settings`, then the socket folder, which cannot be overridden.
 */
export const settingArguments = (settings: Settings, socketFolder: string): string[] => {
  const all: Settings = {
    ...ownSettings(memoryMegabytes()),
    ...settings,
    unix_socket_directories: listed(socketFolder),
  }
  return Object.entries(all).flatMap(([name, value]) => {
    if (!/^[a-z_][a-z0-9_.]*$/i.test(name)) throw new Error(`"${name}" is not a valid name of a PostgreSQL setting.`)
    return ['-c', `${name}=${typeof value === 'boolean' ? (value ? 'on' : 'off') : value}`]
  })
}

/** Quotes a folder for a list of folders, in which a comma or a space would otherwise end it. */
const listed = (folder: string): string => `"${folder.replaceAll('"', '""')}"`

/** Name of the only superuser, and of the database in `connectionString`. */
export const role = 'gateway'

/**
 * Writes the files that decide who may connect. Only root and the run-as user may connect, as superuser and over the
 * socket, where the kernel identifies them (`peer`). The run-as user may not if other programs share that user. Takes
 * effect when the server starts.
 */
export const writeAccess = async (cluster: Cluster): Promise<void> => {
  const names = await namesOf(cluster.runAsUser)
  // `peer` needs a user name. For a user id without a name `trust` is used, and the mode of the folder keeps other
  // users out.
  const isNameless = !isRoot() && names.length === 1
  const method = isNameless ? 'trust' : 'peer map=gateway'
  await replace(cluster, 'pg_hba.conf', `local all ${role} ${method}\n`)
  await replace(cluster, 'pg_ident.conf', names.map((name) => `gateway "${name}" ${role}\n`).join(''))
}

const namesOf = async (runAsUser: RunAsUser): Promise<readonly string[]> => {
  const own = (await knownUsers()).find(({ uid }) => uid === runAsUser.uid)?.name
  return own === undefined || own === 'root' || (await isShared(runAsUser)) ? ['root'] : ['root', own]
}

const heading = '# Written by the gateway at each start.\n'

/** Replaces a file in one step, if its text differs. */
const replace = async ({ folder, runAsUser }: Cluster, name: string, text: string): Promise<void> => {
  const path = join(folder, name)
  if ((await unless(['ENOENT'], readFile(path, 'utf8'))) === heading + text) return
  const aside = `${path}.new-${randomBytes(6).toString('hex')}`
  // The `x` flag fails if the file exists, so that root never writes through a link that another user has put there.
  await writeFile(aside, heading + text, { mode: 0o600, flag: 'wx' })
  if (isRoot()) await lchown(aside, runAsUser.uid, runAsUser.gid)
  await rename(aside, path)
}
