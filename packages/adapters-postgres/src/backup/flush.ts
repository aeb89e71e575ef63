import { open } from 'node:fs/promises'

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
