import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { App } from './process.ts'

export interface ReleaseBefore {
  /** The file that starts an app of it. */
  readonly entryOf: (app: App) => string
  readonly remove: () => Promise<void>
}

/** Installs the packed files in the folder, as a release keeps them, with what npm finds for them. */
export async function installRelease(folder: string): Promise<ReleaseBefore> {
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
