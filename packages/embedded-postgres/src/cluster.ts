import { createHash, randomBytes } from 'node:crypto'
import { lstat, mkdir, open, readFile, readdir, realpath, rm, stat, access, chmod } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf, messageOf, unless } from './errors.ts'
import { isRoot, canEnter, type RunAsUser } from './run-as-user.ts'

/** Real path of a cluster's data, and the user that owns it. */
export interface Cluster {
  readonly folder: string
  readonly runAsUser: RunAsUser
}

/** Major version of the shipped binaries, which can read data of this version only. */
export const major = '18'

/**
 * Creates `dataDir` if it does not exist, and returns its real path. If it cannot be used, throws and says what to do.
 */
export const prepareDataDir = async (dataDir: string): Promise<string> => {
  const path = resolve(dataDir)
  try {
    await makeFolder(path)
    return await realpath(path)
  } catch (error) {
    throw new Error(
      `DATA_DIR ${path} cannot be used (${messageOf(error)}). Name a writable folder, or set DATABASE_URL.`,
      { cause: error },
    )
  }
}

/** Returns the real path of an existing `dataDir`. If it does not exist, throws and says what to do. */
export const existingDataDir = async (dataDir: string): Promise<string> => {
  const path = resolve(dataDir)
  const found = await unless(['ENOENT', 'ENOTDIR'], realpath(path))
  if (found === undefined) throw noDatabase(path)
  return found
}

/** Creates a folder and its parents. `mkdir` with `recursive` is not used, because it never returns under /proc. */
const makeFolder = async (path: string): Promise<void> => {
  if ((await unless(['ENOENT'], stat(path)))?.isDirectory() === true) return
  if (path !== dirname(path)) await makeFolder(dirname(path))
  try {
    await mkdir(path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return
    throw error
  }
  // Flush the parent folder, because the new folder survives a power failure only once the parent is on the disk.
  await syncFolder(dirname(path))
}

export const syncFolder = async (path: string): Promise<void> => {
  const folder = await unless(['EACCES'], open(path))
  if (folder === undefined) return
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/**
 * Returns the cluster of `dataDir` (a real path), or `undefined` if there is none. Throws if the cluster cannot be used
 * or, unless `version` is 'any', has another major version.
 */
export const findCluster = async (dataDir: string, version: 'ours' | 'any' = 'ours'): Promise<Cluster | undefined> => {
  const path = join(dataDir, 'postgres')
  const link = await unless(['ENOENT'], lstat(path))
  if (link === undefined) return undefined
  const folder = await unless(['ENOENT'], realpath(path))
  if (folder === undefined) {
    throw new Error(
      `${path} points to a folder that does not exist. Restore that folder, or delete ${path} to begin with an empty database.`,
    )
  }
  const { uid, gid } = await stat(folder)
  const entries = await unless(['EACCES'], readdir(folder)).catch((cause: unknown) => {
    throw new Error(`${path} must be a folder (${messageOf(cause)}). Move it away, or name another DATA_DIR.`, {
      cause,
    })
  })
  if (entries?.length === 0) return undefined
  assertOurs(path, uid)
  if (entries !== undefined) await assertMajor(folder, entries, version)
  return { folder, runAsUser: { uid, gid } }
}

const assertOurs = (path: string, uid: number): void => {
  if (isRoot() ? uid !== 0 : uid === process.getuid?.()) return
  throw new Error(
    isRoot()
      ? `${path} belongs to root, and PostgreSQL refuses to run as root. Change its owner (chown -R), or name another DATA_DIR.`
      : `${path} belongs to user id ${uid}, and this process runs as ${process.getuid?.() ?? 'another'}. ` +
          'Run as that user or as root, name another DATA_DIR, or set DATABASE_URL.',
  )
}

const assertMajor = async (folder: string, entries: readonly string[], version: 'ours' | 'any'): Promise<void> => {
  if (!entries.includes('PG_VERSION')) {
    throw new Error(
      `${folder} holds files, but no PostgreSQL data (no PG_VERSION). Move it away, or name another DATA_DIR.`,
    )
  }
  const found = (await readFile(join(folder, 'PG_VERSION'), 'utf8')).trim()
  if (found === major || version === 'any') return
  throw new Error(
    `${folder} holds data of PostgreSQL ${found}; the embedded one is ${major} and cannot read it. Run "gateway database ` +
      `upgrade" with binaries of PostgreSQL ${found}, or serve it with that version and set DATABASE_URL.`,
  )
}

/** Removes unfinished clusters that killed starts have left behind. They do no harm, so errors are ignored. */
export const dropUnfinished = async (dataDir: string): Promise<void> => {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith('postgres.new-')) continue
    await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => undefined)
  }
  await dropUnusedDataFolders(dataDir).catch(() => undefined)
}

/** Returns the names under which something exists in `dataDir`. */
export const existingOf = async (dataDir: string, names: readonly string[]): Promise<readonly string[]> => {
  const found = await Promise.all(names.map((name) => unless(['ENOENT'], lstat(join(dataDir, name)))))
  return names.filter((_, i) => found[i] !== undefined)
}

export const databaseGone = (dataDir: string, remains: readonly string[]): Error =>
  new Error(
    `${dataDir} has no database (${join(dataDir, 'postgres')} is empty or gone), but ${remains.join(' and ')} of one. Restore a backup ` +
      'as docs/operations/backup.md says, or set DATABASE_URL if the database is elsewhere. To begin with an empty ' +
      `database on purpose, move ${remains.length === 1 ? 'that' : 'those'} away.`,
  )

export const noDatabase = (dataDir: string): Error =>
  new Error(
    `There is no database in ${dataDir}. Name the folder of the gateway with DATA_DIR, or its server with DATABASE_URL. ` +
      'To create a new database, start a server or run "gateway migrate".',
  )

/** Folder in which root stores clusters whose data folder the run-as user cannot enter. */
const outside = '/var/lib/gateway-postgres'

export const isOutside = (dataFolder: string): boolean => dirname(dataFolder) === outside

/**
 * Returns the folder in which to store the cluster of `dataDir`: `dataDir` itself or, if this process is root and
 * `runAsUser` cannot enter `dataDir` (such as under /root), a new folder outside. Does not change the mode of existing
 * folders of others.
 */
export const newDataFolder = async (dataDir: string, runAsUser: RunAsUser): Promise<string> => {
  if (!isRoot() || (await canEnter(dataDir, runAsUser))) return dataDir
  const dataFolder = join(outside, `${mark(dataDir)}-${randomBytes(6).toString('hex')}`)
  try {
    await mkdir(outside, { recursive: true })
    const { uid, mode } = await stat(outside)
    if (uid !== 0 || (mode & 0o022) !== 0) throw new Error('users other than root can change it')
    await chmod(outside, 0o755)
    await mkdir(dataFolder)
    await chmod(dataFolder, 0o755)
    if (!(await canEnter(dataFolder, runAsUser))) throw new Error(`user id ${runAsUser.uid} cannot enter it`)
    return dataFolder
  } catch (error) {
    throw new Error(
      `PostgreSQL refuses to run as root, user id ${runAsUser.uid} cannot enter ${dataDir}, and ${outside} cannot be used ` +
        `instead (${messageOf(error)}). Choose a DATA_DIR that every user may enter, or set DATABASE_URL.`,
      { cause: error },
    )
  }
}

const mark = (dataDir: string): string => createHash('sha256').update(dataDir).digest('hex').slice(0, 8)

/**
 * Returns the other folders outside that were made for `dataDir`, such as for a cluster before `dataDir` was deleted or
 * moved.
 */
export const earlierDataFolders = async (dataDir: string, dataFolder: string): Promise<string[]> =>
  (await dataFoldersOf(dataDir)).filter((other) => other !== dataFolder)

const dataFoldersOf = async (dataDir: string): Promise<string[]> =>
  ((await unless(['ENOENT'], readdir(outside))) ?? [])
    .filter((name) => name.startsWith(`${mark(dataDir)}-`))
    .map((name) => join(outside, name))

/**
 * Removes folders made for `dataDir` by a start that was killed before it used them. Keeps a folder whose PostgreSQL
 * ever ran even if no link leads to it, because the data folder may have been moved.
 */
export const dropUnusedDataFolders = async (dataDir: string): Promise<void> => {
  if (!isRoot()) return
  const used = await realpath(join(dataDir, 'postgres')).catch(() => '')
  for (const dataFolder of await earlierDataFolders(dataDir, dirname(used))) {
    const hasRun = await access(join(dataFolder, 'postgres/postmaster.opts')).then(
      () => true,
      () => false,
    )
    if (!hasRun) await rm(dataFolder, { recursive: true, force: true }).catch(() => undefined)
  }
}

/** Returns whether two paths lead to the same folder, through links and mounts, or undefined if one does not exist. */
const compare = async (one: string, other: string): Promise<boolean | undefined> => {
  const [a, b] = await Promise.all([one, other].map((path) => unless(['ENOENT', 'ENOTDIR', 'EACCES'], stat(path))))
  return a === undefined || b === undefined ? undefined : a.dev === b.dev && a.ino === b.ino
}

export const isSameFolder = async (one: string, other: string): Promise<boolean> => (await compare(one, other)) === true

/** Returns true if both paths exist and lead to different folders. */
export const isAnotherFolder = async (one: string, other: string): Promise<boolean> =>
  (await compare(one, other)) === false
