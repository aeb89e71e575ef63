import { readdir, rm, stat, open } from 'node:fs/promises'
import { join } from 'node:path'

export interface ListedBackup {
  readonly file: string
  /** Time of the snapshot, in ISO 8601. */
  readonly made: string
  readonly bytes: number
}

const nameParts = /^gateway-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/
const partialName = /^gateway-\d{8}T\d{6}Z\.backup\.\d+\.partial$/

/** Age of a partial file, since its last write, from which it counts as left behind by a killed process. */
const abandonedMilliseconds = 3_600_000

/** Lists the backups of a folder by name, newest first, without reading them. Rejects if the folder cannot be read. */
export async function listBackups(folder: string): Promise<readonly ListedBackup[]> {
  const names = (await readdir(folder)).filter((name) => nameParts.test(name))
  return Promise.all(
    names
      .toSorted()
      .toReversed()
      .map(async (name) => {
        const file = join(folder, name)
        return { file, made: name.replace(nameParts, '$1-$2-$3T$4:$5:$6.000Z'), bytes: (await stat(file)).size }
      }),
  )
}

/** Deletes all but the newest `keep` backups of a folder, and partial files that a killed process left behind. */
export async function pruneBackups(folder: string, keep: number): Promise<{ kept: number; deleted: number }> {
  const backups = await listBackups(folder)
  for (const { file } of backups.slice(keep)) await rm(file)
  for (const name of (await readdir(folder)).filter((each) => partialName.test(each))) {
    const path = join(folder, name)
    if (Date.now() - (await stat(path)).mtimeMs > abandonedMilliseconds) await rm(path)
  }
  return { kept: Math.min(keep, backups.length), deleted: Math.max(0, backups.length - keep) }
}

interface Opened {
  sync(): Promise<void>
  close(): Promise<void>
}

/** Errors of platforms that cannot flush folders: Windows and some file systems. */
const refusals: ReadonlySet<string | undefined> = new Set(['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP'])

/** Flushes a file to the disk. Opens it for writing, because Windows flushes only such files. */
export const flushFile = async (path: string): Promise<void> => flush(await open(path, 'r+'))

/** Flushes a folder, so that new names in it survive a power failure. Does nothing where folders cannot be flushed. */
export async function flushFolder(path: string, opened: (path: string) => Promise<Opened> = open): Promise<void> {
  try {
    await flush(await opened(path))
  } catch (error) {
    if (!refusals.has((error as NodeJS.ErrnoException).code)) throw error
  }
}

async function flush(opened: Opened): Promise<void> {
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
