import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root, type App } from './process.ts'

export interface ReleaseBefore {
  /** Returns the file that starts an app of the release. */
  readonly entryOf: (app: App) => string
  /** Folder of the package adapters-postgres of the release. */
  readonly store: string
  readonly remove: () => Promise<void>
}

/**
 * Finds the previous release. RELEASE_BEFORE may name it, as a folder with its packed files or as a commit. Otherwise
 * it is the commit of the latest version tag. A commit is built in a folder of its own. Returns undefined if there is
 * neither.
 */
export function findReleaseBefore(): Promise<ReleaseBefore> | undefined {
  const named = process.env['RELEASE_BEFORE']
  if (named !== undefined) return existsSync(named) ? installRelease(named) : buildRelease(named)
  const found = spawnSync('git', ['describe', '--tags', '--abbrev=0', '--match', 'v*'], { cwd: root, encoding: 'utf8' })
  return found.status === 0 ? buildRelease(found.stdout.trim()) : undefined
}

async function buildRelease(commit: string): Promise<ReleaseBefore> {
  const tree = await realpath(await mkdtemp(join(tmpdir(), 'gateway-before-')))
  await chmod(tree, 0o755)
  const run = (program: string, ...args: string[]) => promisify(execFile)(program, args, { cwd: tree })
  await run('git', 'init', '--quiet')
  await run('git', 'fetch', '--quiet', '--depth', '1', `file://${root}`, commit)
  await run('git', 'checkout', '--quiet', 'FETCH_HEAD')
  // Most dependencies of the old commit are also those of this tree. `--prefer-offline` takes them from the store of
  // pnpm instead of the network.
  await run('npx', '-y', 'pnpm@12.21.0', 'install', '--frozen-lockfile', '--prefer-offline')
  await run('npx', 'pnpm', 'build')
  return {
    entryOf: (app) => join(tree, 'apps', app, 'dist', 'main.js'),
    store: join(tree, 'packages', 'adapters-postgres'),
    remove: () => rm(tree, { recursive: true, force: true }),
  }
}

/**
 * Program that prints the name and the text of each SQL statement of a release as JSON. Its argument is the folder
 * `dist/sql`. A statement that exists for each partition is printed for partition 1.
 */
const statementPrinter = `
import { readdir } from 'node:fs/promises'
const statementsIn = (exported) => {
  if (typeof exported === 'function')
    return /^\\(?partition/.test(String(exported)) ? statementsIn(exported(1)) : []
  if (typeof exported !== 'object' || exported === null) return []
  const { name, text } = exported
  return name && text ? [{ name, text }] : Object.values(exported).flatMap(statementsIn)
}
const files = (await readdir(process.argv[1])).filter((file) => file.endsWith('.js'))
const modules = await Promise.all(files.map((file) => import(process.argv[1] + '/' + file)))
console.log(JSON.stringify(modules.flatMap((module) => Object.values(module).flatMap(statementsIn))))`

/** Returns the SQL statements of the built package adapters-postgres in the folder. */
export async function statementsOf(store: string): Promise<readonly { name: string; text: string }[]> {
  const program = ['--input-type=module', '-e', statementPrinter, join(store, 'dist', 'sql')]
  const { stdout } = await promisify(execFile)(process.execPath, program, { maxBuffer: 2 ** 26 })
  return JSON.parse(stdout) as readonly { name: string; text: string }[]
}

/** Installs the packed files of a release in the folder, with their dependencies from npm. */
async function installRelease(folder: string): Promise<ReleaseBefore> {
  const project = await realpath(await mkdtemp(join(tmpdir(), 'gateway-before-')))
  // If the test runs as root, PostgreSQL runs as another user, which needs access to this folder.
  await chmod(project, 0o755)
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  const packed = (await readdir(folder)).filter((name) => name.endsWith('.tgz')).map((name) => join(folder, name))
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', ...packed], { cwd: project })
  return {
    entryOf: (app) => join(project, 'node_modules', '@gateway', app, 'dist', 'main.js'),
    store: join(project, 'node_modules', '@gateway', 'adapters-postgres'),
    remove: () => rm(project, { recursive: true, force: true }),
  }
}
