import { execFile, spawnSync } from 'node:child_process'
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
 * The release before this tree: the packed files in the folder that RELEASE_BEFORE names, else the commit of the last
 * tag of a version, built in a folder of its own. Undefined where there is no such tag.
 */
export function findReleaseBefore(): Promise<ReleaseBefore> | undefined {
  const folder = process.env['RELEASE_BEFORE']
  if (folder !== undefined) return installRelease(folder)
  const found = spawnSync('git', ['describe', '--tags', '--abbrev=0', '--match', 'v*'], { cwd: root, encoding: 'utf8' })
  return found.status === 0 ? buildRelease(found.stdout.trim()) : undefined
}

async function buildRelease(tag: string): Promise<ReleaseBefore> {
  const tree = await realpath(await mkdtemp(join(tmpdir(), 'gateway-before-')))
  await chmod(tree, 0o755)
  const run = (program: string, ...args: string[]) => promisify(execFile)(program, args, { cwd: tree })
  await run('git', 'clone', '--quiet', '--depth', '1', '--branch', tag, `file://${root}`, tree)
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
