import { readdir, rm, stat, open } from 'node:fs/promises'
import { join } from 'node:path'

export interface ListedBackup {
  readonly file: string
  /** ISO 8601: the moment of the snapshot. */
  readonly made: string
  readonly bytes: number
}

const nameParts = /^gateway-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/
const left = /^gateway-\d{8}T\d{6}Z\.backup\.\d+\.partial$/

/** One that nobody has written to for so long was left by a process that was killed. */
const leftMilliseconds = 3_600_000

/** The backups of a folder by their names, the newest first. None is read. Rejects for a folder that cannot be read. */
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

/** Deletes all backups of a folder but the newest, and what a killed process left of one. */
export async function pruneBackups(folder: string, keep: number): Promise<{ kept: number; deleted: number }> {
  const backups = await listBackups(folder)
  for (const { file } of backups.slice(keep)) await rm(file)
  for (const name of (await readdir(folder)).filter((each) => left.test(each))) {
    const path = join(folder, name)
    if (Date.now() - (await stat(path)).mtimeMs > leftMilliseconds) await rm(path)
  }
  return { kept: Math.min(keep, backups.length), deleted: Math.max(0, backups.length - keep) }
}

interface Opened {
  sync(): Promise<void>
  close(): Promise<void>
}

/** What a platform says that does not flush folders: Windows, and some file systems. */
const refusals: ReadonlySet<string | undefined> = new Set(['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP'])

/** Opened to write: Windows flushes nothing else. */
export const flushFile = async (path: string): Promise<void> => flush(await open(path, 'r+'))

/** That a new name in it outlives a power failure; nothing where folders cannot be flushed. */
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
