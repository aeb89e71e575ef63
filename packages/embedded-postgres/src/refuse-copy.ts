import { readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { isOutside } from './data-folder.ts'
import { unless } from './errors.ts'
import { readPidFile, runningPid } from './postmaster.ts'
import { isSameFolder } from './same-folder.ts'
import { systemIdentifier } from './socket-folder.ts'

/**
 * Throws if `dataDir` is a copy of another one whose data is still in its place: one that shares the data by a link, or one that
 * was made without stopping the server. `log` is told of what may be such a copy, or was moved.
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
      'incomplete, and what waits in it would be sent by both. Make a copy as docs/operations.md says under "Backup", or name ' +
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
