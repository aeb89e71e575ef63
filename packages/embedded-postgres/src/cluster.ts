import { lstat, mkdir, open, readFile, readdir, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf, messageOf, unless } from './errors.ts'
import { dropUnusedDataFolders } from './data-folder.ts'
import { noDatabase } from './no-database.ts'
import { isRoot, type RunAsUser } from './run-as-user.ts'

/** The real path of a cluster's data and the user whose it is. */
export interface Cluster {
  readonly folder: string
  readonly runAsUser: RunAsUser
}

/** The major version of the binaries that we ship; they read no other's data. */
const major = '18'

/** Makes `dataDir` if there is none, and answers its real path. Throws what to do if it cannot be used. */
export const prepareDataDir = async (dataDir: string): Promise<string> => {
  const path = resolve(dataDir)
  try {
    await makeFolder(path)
    return await realpath(path)
  } catch (error) {
    throw new Error(
      `DATA_DIR ${path} cannot be used (${messageOf(error)}). Name a folder that can be written, or set DATABASE_URL.`,
      { cause: error },
    )
  }
}

/** The real path of `dataDir`, which is not made. Throws what to do if it is not there. */
export const existingDataDir = async (dataDir: string): Promise<string> => {
  const path = resolve(dataDir)
  const found = await unless(['ENOENT', 'ENOTDIR'], realpath(path))
  if (found === undefined) throw noDatabase(path)
  return found
}

/** Not mkdir's own `recursive`, which never returns for a path under /proc. */
const makeFolder = async (path: string): Promise<void> => {
  if ((await unless(['ENOENT'], stat(path)))?.isDirectory() === true) return
  if (path !== dirname(path)) await makeFolder(dirname(path))
  try {
    await mkdir(path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return
    throw error
  }
  // A new folder outlives a power failure only once the folder above it is on the disk.
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

/** The cluster of `dataDir` (a real path), or `undefined` if none was made. Throws for one that cannot be used. */
export const findCluster = async (dataDir: string): Promise<Cluster | undefined> => {
  const path = join(dataDir, 'postgres')
  const link = await unless(['ENOENT'], lstat(path))
  if (link === undefined) return undefined
  const folder = await unless(['ENOENT'], realpath(path))
  if (folder === undefined) {
    throw new Error(
      `${path} points to a folder that is gone. Bring that folder back, or delete ${path} to begin with an empty database.`,
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
  if (entries !== undefined) await assertMajor(folder, entries)
  return { folder, runAsUser: { uid, gid } }
}

const assertOurs = (path: string, uid: number): void => {
  if (isRoot() ? uid !== 0 : uid === process.getuid?.()) return
  throw new Error(
    isRoot()
      ? `${path} belongs to root, whom PostgreSQL refuses to run as. Give it to another user (chown -R), or name another DATA_DIR.`
      : `${path} belongs to user id ${uid}, and this process runs as ${process.getuid?.() ?? 'another'}. ` +
          'Run as that user or as root, name another DATA_DIR, or set DATABASE_URL.',
  )
}

const assertMajor = async (folder: string, entries: readonly string[]): Promise<void> => {
  if (!entries.includes('PG_VERSION')) {
    throw new Error(
      `${folder} holds files, but no PostgreSQL data (no PG_VERSION). Move it away, or name another DATA_DIR.`,
    )
  }
  const found = (await readFile(join(folder, 'PG_VERSION'), 'utf8')).trim()
  if (found === major) return
  throw new Error(
    `${folder} holds data of PostgreSQL ${found}; the embedded one is ${major} and cannot read it. Serve it with ` +
      `PostgreSQL ${found} and set DATABASE_URL to that, or dump it there and restore it into an empty DATA_DIR.`,
  )
}

/** Removes what starts that were killed have left beside the cluster. Such a rest blocks nothing: failing is no matter. */
export const dropUnfinished = async (dataDir: string): Promise<void> => {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith('postgres.new-')) continue
    await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => undefined)
  }
  await dropUnusedDataFolders(dataDir).catch(() => undefined)
}
