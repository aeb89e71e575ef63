import { createHash, randomBytes } from 'node:crypto'
import { access, chmod, mkdir, readdir, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf, unless } from './errors.ts'
import { canEnter, isRoot, type RunAsUser } from './run-as-user.ts'

/** Where root keeps the clusters whose data folder the run-as user cannot reach. */
const outside = '/var/lib/gateway-postgres'

export const isOutside = (dataFolder: string): boolean => dirname(dataFolder) === outside

/**
 * The data folder that holds the cluster of `dataDir` and what goes with it: `dataDir` itself, or, if root starts us where
 * `runAsUser` cannot enter (say under /root), a fresh folder outside. The modes of folders that are not ours stay as they are.
 */
export const newDataFolder = async (dataDir: string, runAsUser: RunAsUser): Promise<string> => {
  if (!isRoot() || (await canEnter(dataDir, runAsUser))) return dataDir
  const dataFolder = join(outside, `${mark(dataDir)}-${randomBytes(6).toString('hex')}`)
  try {
    await mkdir(outside, { recursive: true })
    const { uid, mode } = await stat(outside)
    if (uid !== 0 || (mode & 0o022) !== 0) throw new Error('it can be changed by others than root')
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

/** Other data folders made for `dataDir`: of clusters that existed before it was deleted or moved. */
export const earlierDataFolders = async (dataDir: string, dataFolder: string): Promise<string[]> =>
  (await dataFoldersOf(dataDir)).filter((other) => other !== dataFolder)

const dataFoldersOf = async (dataDir: string): Promise<string[]> =>
  ((await unless(['ENOENT'], readdir(outside))) ?? [])
    .filter((name) => name.startsWith(`${mark(dataDir)}-`))
    .map((name) => join(outside, name))

/**
 * Removes data folders made for `dataDir` by a start that was killed before it could use them. One whose PostgreSQL ever ran
 * stays, whatever points to it: somebody may have moved the data folder.
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
