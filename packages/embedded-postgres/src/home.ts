import { createHash, randomBytes } from 'node:crypto'
import { access, chmod, mkdir, readdir, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf, unless } from './errors.ts'
import { canEnter, isRoot, type Owner } from './owner.ts'

/** Where root keeps the clusters whose data folder their owner cannot reach. */
const outside = '/var/lib/gateway-postgres'

export const isOutside = (home: string): boolean => dirname(home) === outside

/**
 * The folder that holds the cluster of `dataDir` and what goes with it: `dataDir` itself, or, if root starts us where
 * `owner` cannot enter (say under /root), a fresh folder outside. The modes of folders that are not ours stay as they are.
 */
export const newHome = async (dataDir: string, owner: Owner): Promise<string> => {
  if (!isRoot() || (await canEnter(dataDir, owner))) return dataDir
  const home = join(outside, `${mark(dataDir)}-${randomBytes(6).toString('hex')}`)
  try {
    await mkdir(outside, { recursive: true })
    const { uid, mode } = await stat(outside)
    if (uid !== 0 || (mode & 0o022) !== 0) throw new Error('it can be changed by others than root')
    await chmod(outside, 0o755)
    await mkdir(home)
    await chmod(home, 0o755)
    if (!(await canEnter(home, owner))) throw new Error(`user id ${owner.uid} cannot enter it`)
    return home
  } catch (error) {
    throw new Error(
      `PostgreSQL refuses to run as root, user id ${owner.uid} cannot enter ${dataDir}, and ${outside} cannot be used ` +
        `instead (${messageOf(error)}). Choose a DATA_DIR that every user may enter, or set DATABASE_URL.`,
      { cause: error },
    )
  }
}

const mark = (dataDir: string): string => createHash('sha256').update(dataDir).digest('hex').slice(0, 8)

/** Other homes that were made for `dataDir`: those of clusters that were there before somebody deleted or moved it. */
export const earlierHomes = async (dataDir: string, home: string): Promise<string[]> =>
  (await homesOf(dataDir)).filter((other) => other !== home)

const homesOf = async (dataDir: string): Promise<string[]> =>
  ((await unless(['ENOENT'], readdir(outside))) ?? [])
    .filter((name) => name.startsWith(`${mark(dataDir)}-`))
    .map((name) => join(outside, name))

/**
 * Removes homes made for `dataDir` by a start that was killed before it could use them. One whose PostgreSQL ever ran
 * stays, whatever points to it: somebody may have moved the data folder.
 */
export const dropUnusedHomes = async (dataDir: string): Promise<void> => {
  if (!isRoot()) return
  const used = await realpath(join(dataDir, 'postgres')).catch(() => '')
  for (const home of await earlierHomes(dataDir, dirname(used))) {
    const hasRun = await access(join(home, 'postgres/postmaster.opts')).then(
      () => true,
      () => false,
    )
    if (!hasRun) await rm(home, { recursive: true, force: true }).catch(() => undefined)
  }
}
