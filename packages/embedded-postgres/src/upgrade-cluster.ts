import { execFile } from 'node:child_process'
import { lstat, readFile, readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { cleanEnvironment } from './binaries.ts'
import { existingDataDir, findCluster, major, noDatabase, syncFolder, type Cluster } from './cluster.ts'
import { removeCluster } from './create-cluster.ts'
import { messageOf, unless } from './errors.ts'
import { runningPid } from './postmaster.ts'
import { connectionStringTo, leave, startEmbeddedPostgres } from './start-embedded-postgres.ts'
import { connectOrStart } from './usage-lease.ts'

export interface UpgradeOptions {
  readonly dataDir: string
  /** Folder with `bin/postgres` of the version that made the data. */
  readonly binaries: string
  /** Copies everything from the server at the first URL to the empty server at the second. */
  readonly copy: (from: string, to: string) => Promise<void>
  readonly log?: (line: string) => void
}

export interface Upgraded {
  /** Major version of the old data. */
  readonly from: string
  readonly to: string
  /** Folder of the old data, which is unchanged. */
  readonly oldFolder: string
}

/**
 * Upgrades the data in `dataDir` to the major version of this package's binaries. Runs both servers, calls `copy`,
 * moves the old data aside, and puts the new data in its place. If a step fails, the old data stays in its place. If
 * the process is killed between the two renames, the next call completes the upgrade. Nothing else may use the old data
 * during an upgrade. Throws an Error that says what to do.
 */
export async function upgradeCluster({
  dataDir,
  binaries,
  copy,
  log = () => undefined,
}: UpgradeOptions): Promise<Upgraded> {
  const top = await existingDataDir(dataDir)
  const old = await findCluster(top, 'any')
  if (old === undefined) return complete(top)
  const from = (await readFile(join(old.folder, 'PG_VERSION'), 'utf8')).trim()
  const target = join(top, `postgres-${from}`)
  if (from === major)
    throw new Error(
      `${join(top, 'postgres')} already has the format of PostgreSQL ${major}: there is nothing to upgrade.`,
    )
  if (await isThere(target))
    throw new Error(`${target} already exists. Move it away, because the old data will be stored there.`)
  if ((await runningPid(old)) !== undefined)
    throw new Error(`PostgreSQL ${from} runs on ${join(top, 'postgres')}. Stop it and every process that uses it.`)
  const folder = await binariesOf(binaries, from)
  const aside = asideOf(top)
  await drop(aside)
  try {
    await copyTo(aside, old, { folder, version: from }, { copy, log })
  } catch (error) {
    await drop(aside)
    throw error
  }
  await rename(join(top, 'postgres'), target)
  return complete(top)
}

const asideOf = (top: string): string => join(top, 'upgrade')

async function copyTo(
  aside: string,
  old: Cluster,
  binaries: { readonly folder: string; readonly version: string },
  { copy, log }: Required<Pick<UpgradeOptions, 'copy' | 'log'>>,
): Promise<void> {
  const lease = await connectOrStart(old, { settings: {}, log, binaries })
  try {
    const fresh = await startEmbeddedPostgres({ dataDir: aside, log })
    try {
      await copy(connectionStringTo(lease.socketFolder), fresh.connectionString)
    } finally {
      await fresh.stop()
    }
  } finally {
    await leave(old, lease)
  }
}

/** Renames the new data to its final path. It is complete, because the old data has been renamed already. */
async function complete(top: string): Promise<Upgraded> {
  const aside = asideOf(top)
  const [from = ''] = (await readdir(top)).flatMap((name) => /^postgres-(\d+)$/.exec(name)?.[1] ?? [])
  if (from === '' || !(await isThere(join(aside, 'postgres')))) throw noDatabase(top)
  await rename(join(aside, 'postgres'), join(top, 'postgres'))
  await syncFolder(top)
  await rm(aside, { recursive: true, force: true })
  return { from, to: major, oldFolder: join(top, `postgres-${from}`) }
}

async function drop(aside: string): Promise<void> {
  await removeCluster(aside)
  await rm(aside, { recursive: true, force: true })
}

/** Finds the binaries in `path`, or in its subfolder `native` if it is an npm package, and checks their version. */
async function binariesOf(path: string, version: string): Promise<string> {
  const inside = join(resolve(path), 'native')
  const folder = (await isThere(inside)) ? inside : resolve(path)
  const program = join(folder, 'bin/postgres')
  const { stdout } = await promisify(execFile)(program, ['--version'], { cwd: '/', env: cleanEnvironment }).catch(
    (cause: unknown) => {
      throw new Error(`${program} does not run here: ${messageOf(cause).trim()}.`, { cause })
    },
  )
  const [, found] = /\b(\d+)(?:\.|devel|beta|rc|$)/m.exec(stdout) ?? []
  if (found !== version)
    throw new Error(`${program} is PostgreSQL ${found ?? '?'}, but the data is in the format of PostgreSQL ${version}.`)
  return folder
}

const isThere = async (path: string): Promise<boolean> => (await unless(['ENOENT'], lstat(path))) !== undefined
