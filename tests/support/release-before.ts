import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root, type App } from './process.ts'

export interface ReleaseBefore {
  /** The file that starts an app of it. */
  readonly entryOf: (app: App) => string
  readonly remove: () => Promise<void>
}

/**
 * The release before this tree: what RELEASE_BEFORE names (a folder with its packed files, or a commit), else the
 * commit of the last tag of a version. A commit is built in a folder of its own. Undefined if there is neither.
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
  // Its packages are those of this tree but for a few: they are linked from the store, not fetched.
  await run('npx', '-y', 'pnpm@12.21.0', 'install', '--frozen-lockfile', '--prefer-offline')
  await run('npx', 'pnpm', 'build')
  return {
    entryOf: (app) => join(tree, 'apps', app, 'dist', 'main.js'),
    remove: () => rm(tree, { recursive: true, force: true }),
  }
}

/** Installs the packed files in the folder, as a release keeps them, with what npm finds for them. */
async function installRelease(folder: string): Promise<ReleaseBefore> {
  const project = await realpath(await mkdtemp(join(tmpdir(), 'gateway-before-')))
  // Open to the user as whom PostgreSQL runs if we are root.
  await chmod(project, 0o755)
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  const packed = (await readdir(folder)).filter((name) => name.endsWith('.tgz')).map((name) => join(folder, name))
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', ...packed], { cwd: project })
  return {
    entryOf: (app) => join(project, 'node_modules', '@gateway', app, 'dist', 'main.js'),
    remove: () => rm(project, { recursive: true, force: true }),
  }
}
