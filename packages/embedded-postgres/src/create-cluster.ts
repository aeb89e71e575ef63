import { execFile, type ExecFileOptions } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { lchown, mkdir, rename, rm, rmdir, symlink, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { cleanEnvironment, usableBinaries } from './binaries.ts'
import {
  findCluster,
  syncFolder,
  earlierDataFolders,
  newDataFolder,
  dropUnfinished,
  isOutside,
  isSameFolder,
  type Cluster,
} from './cluster.ts'
import { codeOf, messageOf, unless } from './errors.ts'
import { role, writeAccess, readPidFile, stopPostmaster } from './postmaster.ts'
import { actingAs, isRoot, knownUsers, newRunAsUsers, type RunAsUser } from './run-as-user.ts'
import { isPrivateSocketFolder, privateSocketPath } from './socket-folder.ts'

/**
 * Creates the cluster of `dataDir`, a real path that has none yet. Builds the cluster under another name and renames it
 * when it is complete. If several processes do this at once, one succeeds and all return its cluster.
 */
export const createCluster = async (
  dataDir: string,
  options: { durable: boolean; log: (line: string) => void },
): Promise<Cluster> => {
  let failure: unknown
  for (const runAsUser of await newRunAsUsers(dataDir)) {
    try {
      return await createAs(runAsUser, dataDir, options)
    } catch (error) {
      failure ??= error
    }
  }
  throw failure
}

const createAs = async (
  runAsUser: RunAsUser,
  dataDir: string,
  options: { durable: boolean; log: (line: string) => void },
): Promise<Cluster> => {
  const dataFolder = await newDataFolder(dataDir, runAsUser)
  const fresh = join(dataFolder, `postgres.new-${randomBytes(6).toString('hex')}`)
  let failure = notInPlace(dataDir)
  try {
    await build(dataFolder, fresh, runAsUser, options.durable)
    if (await publish(dataDir, dataFolder, fresh)) {
      options.log(`PostgreSQL: made a cluster in ${join(dataDir, 'postgres')}`)
      if (dataFolder !== dataDir) await logOutside(dataDir, dataFolder, runAsUser, options.log)
      return await found(dataDir)
    }
  } catch (error) {
    failure = error as Error
  }
  await rm(dataFolder === dataDir ? fresh : dataFolder, { recursive: true, force: true }).catch(() => undefined)
  // Another process that was faster may have removed this unfinished cluster. The error does not matter if a cluster
  // exists now.
  const other = await findCluster(dataDir)
  if (other === undefined) throw failure
  return other
}

const found = async (dataDir: string): Promise<Cluster> => {
  const cluster = await findCluster(dataDir)
  if (cluster === undefined) throw notInPlace(dataDir)
  return cluster
}

const notInPlace = (dataDir: string): Error =>
  new Error(
    `The new cluster could not be moved to ${join(dataDir, 'postgres')}: that folder must not exist, and must not be a mount point.`,
  )

const logOutside = async (
  dataDir: string,
  dataFolder: string,
  { uid }: RunAsUser,
  log: (line: string) => void,
): Promise<void> => {
  log(
    `PostgreSQL refuses to run as root, and user id ${uid} cannot enter ${dataDir}: its data is stored in ${dataFolder}, to ` +
      `which ${join(dataDir, 'postgres')} is a link`,
  )
  for (const earlier of await earlierDataFolders(dataDir, dataFolder)) {
    log(
      `PostgreSQL: ${earlier} was made for ${dataDir} earlier and is no longer used there; delete it if nothing else does`,
    )
  }
}

const build = async (dataFolder: string, fresh: string, runAsUser: RunAsUser, durable: boolean): Promise<void> => {
  const binaries = await usableBinaries(dataFolder, runAsUser)
  try {
    await mkdir(fresh, { mode: 0o700 })
    await lchown(fresh, runAsUser.uid, runAsUser.gid)
  } catch (error) {
    throw new Error(
      `A folder of user id ${runAsUser.uid} cannot be created in ${dataFolder} (${messageOf(error)}). Name a writable ` +
        `DATA_DIR${isRoot() ? ', start as an ordinary user' : ''}, or set DATABASE_URL.`,
      { cause: error },
    )
  }
  await initdb(binaries, fresh, runAsUser, durable)
  await writeAccess({ folder: fresh, runAsUser })
}

const initdb = async (binaries: string, fresh: string, runAsUser: RunAsUser, durable: boolean): Promise<void> => {
  const command = join(binaries, 'bin/initdb')
  const args = ['-D', fresh, `--username=${role}`, '--encoding=UTF8', '--locale=C', '--no-instructions']
  args.push('--auth-local=peer', '--auth-host=reject')
  if (!durable) args.push('--no-sync')
  try {
    const options = { cwd: '/', env: cleanEnvironment, ...actingAs(runAsUser) }
    await run(command, args, options).catch(async (error: unknown) => {
      if (!messageOf(error).includes('could not look up effective user ID')) throw error
      await runUnderAName(command, args, options)
    })
  } catch (error) {
    throw new Error(
      `The database could not be initialised in ${fresh}: ${messageOf(error).trim()}\n` +
        'Remove the cause (such as a full disk or a user without a name in /etc/passwd), or set DATABASE_URL.',
      { cause: error },
    )
  }
}

const run = (command: string, args: string[], options: ExecFileOptions): Promise<unknown> =>
  promisify(execFile)(command, args, options)

/**
 * Runs initdb in a user namespace of its own, in which its user id has a name. initdb requires that, and a user id
 * chosen at random for a container has none. The files belong to the real user.
 */
const runUnderAName = async (command: string, args: string[], options: ExecFileOptions): Promise<void> => {
  const user = (await knownUsers()).find(({ uid }) => uid > 0)
  if (user === undefined) throw new Error('no user in /etc/passwd has a name')
  await run('unshare', ['--user', `--map-user=${user.uid}`, command, ...args], options).catch((cause: unknown) => {
    throw new Error(
      `user id ${process.getuid?.() ?? '?'} has no entry in /etc/passwd, which initdb needs. A user namespace that ` +
        `would provide one cannot be created (${messageOf(cause).trim()})`,
      { cause },
    )
  })
}

/** Renames the complete cluster to its final path. Returns false if something else is there. */
const publish = async (dataDir: string, dataFolder: string, fresh: string): Promise<boolean> => {
  const path = join(dataDir, 'postgres')
  // Removes an empty folder that was created beforehand.
  await unless(['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST', 'EBUSY'], rmdir(path))
  try {
    await rename(fresh, join(dataFolder, 'postgres'))
    if (dataFolder !== dataDir) await symlink(join(dataFolder, 'postgres'), path)
  } catch (error) {
    if (['EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EBUSY'].includes(codeOf(error) ?? '')) return false
    throw error
  }
  for (const folder of new Set([dataDir, dataFolder, dirname(dataFolder)])) await syncFolder(folder)
  return true
}

/**
 * Stops the server on `dataDir` even if it is in use, and removes the cluster with everything that belongs to it, also
 * outside `dataDir`. Keeps the folder itself and other files in it. Does nothing if there is no cluster.
 */
export const removeCluster = async (dataDir: string): Promise<void> => {
  const top = await unless(['ENOENT', 'ENOTDIR'], realpath(resolve(dataDir)))
  if (top === undefined || !(await stat(top)).isDirectory()) return
  const folder = await unless(['ENOENT'], realpath(join(top, 'postgres')))
  if (folder !== undefined && (await stat(folder)).isDirectory()) await removeAt(folder)
  for (const name of await readdir(top)) {
    if (/^postgres$|^postgres-binaries-/.test(name)) await rm(join(top, name), { recursive: true, force: true })
  }
  await dropUnfinished(top)
}

const removeAt = async (folder: string): Promise<void> => {
  const { uid, gid } = await stat(folder)
  const found: Cluster = { folder, runAsUser: { uid, gid } }
  const pidFile = await readPidFile(found)
  // The pid file of a copy names the folders of the original.
  const isOwn = pidFile?.dataFolder !== undefined && (await isSameFolder(pidFile.dataFolder, folder))
  const sockets = [isOwn ? pidFile.socketFolder : undefined, await unless(['ENOENT'], privateSocketPath(found))]
  // Rename the folder first, because a process that still uses the server would otherwise restart it.
  const aside = `${folder}.new-${randomBytes(6).toString('hex')}`
  await rename(folder, aside)
  await stopPostmaster({ ...found, folder: aside })
  await rm(aside, { recursive: true, force: true })
  for (const path of sockets) {
    if (path !== undefined && isPrivateSocketFolder(path)) await rm(path, { recursive: true, force: true })
  }
  if (isOutside(dirname(folder))) await rm(dirname(folder), { recursive: true, force: true })
}
