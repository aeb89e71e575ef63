import { randomBytes } from 'node:crypto'
import { readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { dropUnfinished, type Cluster } from './cluster.ts'
import { unless } from './errors.ts'
import { isOutside } from './data-folder.ts'
import { readPidFile, stopPostmaster } from './postmaster.ts'
import { isSameFolder } from './same-folder.ts'
import { isPrivateSocketFolder, privateSocketPath } from './socket-folder.ts'

/**
 * Stops the server on `dataDir`, whoever uses it, and removes the cluster with everything kept for it, also what lies
 * outside `dataDir`. The folder itself and other files in it stay. Removes nothing if there is nothing.
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
  const said = await readPidFile(found)
  // The pid file of a copy names what belongs to the original.
  const isOwn = said?.dataFolder !== undefined && (await isSameFolder(said.dataFolder, folder))
  const sockets = [isOwn ? said.socketFolder : undefined, await unless(['ENOENT'], privateSocketPath(found))]
  // Out of the way first: whoever still uses the server would start it again as long as its folder has the name.
  const aside = `${folder}.new-${randomBytes(6).toString('hex')}`
  await rename(folder, aside)
  await stopPostmaster({ ...found, folder: aside })
  await rm(aside, { recursive: true, force: true })
  for (const path of sockets) {
    if (path !== undefined && isPrivateSocketFolder(path)) await rm(path, { recursive: true, force: true })
  }
  if (isOutside(dirname(folder))) await rm(dirname(folder), { recursive: true, force: true })
}
