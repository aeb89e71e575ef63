import { createHash, randomBytes } from 'node:crypto'
import { lchown, lstat, mkdir, open, rename, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { messageOf, unless } from './errors.ts'
import { canEnter, isRoot, type RunAsUser } from './run-as-user.ts'
import type { Cluster } from './cluster.ts'

/** Port in the name of the socket. Nothing listens on TCP. */
export const port = 5432

// Limit of the kernel: 108 bytes including the final zero, 104 on macOS.
const pathBytesMax = process.platform === 'darwin' ? 103 : 107

const prefix = 'gateway-postgres-'

/** Returns true if the last part of `path` has the form of a private socket folder of this package. */
export const isPrivateSocketFolder = (path: string): boolean =>
  basename(path).startsWith(prefix) && /^[0-9a-f]{16}$/.test(basename(path).slice(prefix.length))

const fits = (folder: string): boolean =>
  Buffer.byteLength(join(folder, `.s.PGSQL.${port}`)) <= pathBytesMax && !folder.includes('\n')

/**
 * Returns the folder for the socket of `cluster`: the cluster itself or, if that path is too long, a private folder.
 */
export const socketFolderOf = async (cluster: Cluster): Promise<string> =>
  fits(cluster.folder) ? cluster.folder : privateFolder(await privatePath(cluster), cluster.runAsUser)

/** Returns the path of the private folder of `cluster`, even if it does not exist, or `undefined` if none is needed. */
export const privateSocketPath = async (cluster: Cluster): Promise<string | undefined> =>
  fits(cluster.folder) ? undefined : privatePath(cluster)

const privatePath = async ({ folder, runAsUser }: Cluster): Promise<string> => {
  // The name includes the identifier, so that a new cluster in the same place never finds the socket of the old one.
  const name = createHash('sha256')
    .update(folder)
    .update(await systemIdentifier(folder))
  for (const parent of new Set([tmpdir(), '/tmp'])) {
    const path = join(parent, `${prefix}${name.copy().digest('hex').slice(0, 16)}`)
    if (fits(path) && (await canEnter(parent, runAsUser).catch(() => false))) return path
  }
  throw new Error(
    `The path ${folder} is too long for a socket (${pathBytesMax} bytes), and neither ${tmpdir()} nor /tmp can hold ` +
      'one. Set TMPDIR to a short folder that every user may enter, choose a shorter DATA_DIR, or set DATABASE_URL.',
  )
}

/** Reads the identifier that PostgreSQL writes into the first eight bytes of `pg_control` when it creates a cluster. */
export const systemIdentifier = async (folder: string): Promise<Buffer> => {
  const file = await open(join(folder, 'global/pg_control'))
  try {
    return (await file.read(Buffer.alloc(8), 0, 8, 0)).buffer
  } finally {
    await file.close()
  }
}

/**
 * Creates the folder `path` for `runAsUser` only, or accepts an existing one. Rejects a folder with another owner or
 * mode: under /tmp anyone can create it, and whoever can enter it can connect as superuser.
 */
const privateFolder = async (path: string, runAsUser: RunAsUser): Promise<string> => {
  if ((await unless(['ENOENT'], lstat(path))) === undefined) await create(path, runAsUser)
  await assertPrivate(path, runAsUser)
  return path
}

const create = async (path: string, runAsUser: RunAsUser): Promise<void> => {
  // The folder is created under another name and renamed, so that no other process sees it while root owns it.
  const aside = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await mkdir(aside, { mode: 0o700 })
    if (isRoot()) await lchown(aside, runAsUser.uid, runAsUser.gid)
    await rename(aside, path)
  } catch (error) {
    await rmdir(aside).catch(() => undefined)
    if ((await unless(['ENOENT'], lstat(path))) !== undefined) return
    throw new Error(
      `The folder for the socket cannot be created at ${path} (${messageOf(error)}). Set TMPDIR to a writable ` +
        'folder, choose a shorter DATA_DIR, or set DATABASE_URL.',
      { cause: error },
    )
  }
}

/** Throws unless `folder` belongs to `runAsUser` and only `runAsUser` may enter it. */
export const assertPrivate = async (folder: string, runAsUser: RunAsUser): Promise<void> => {
  const found = await lstat(folder)
  if (found.isDirectory() && found.uid === runAsUser.uid && (found.mode & 0o077) === 0) return
  throw new Error(
    `The socket folder ${folder} must be a folder of user id ${runAsUser.uid} with mode 0700, but it is ` +
      `${found.isDirectory() ? 'a folder' : 'something else'} of user id ${found.uid} with mode ` +
      `0${(found.mode & 0o777).toString(8)}. Remove it and start again.`,
  )
}
