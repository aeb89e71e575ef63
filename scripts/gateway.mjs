// Runs the command line of this checkout. A checkout that is not built yet is built first, without output.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const main = `${root}apps/operator/dist/main.js`

if (!existsSync(main)) {
  const tsc = `${root}node_modules/typescript-native/bin/tsc`
  const built = spawnSync(process.execPath, [tsc, '-b', `${root}tsconfig.build.json`], { stdio: ['ignore', 2, 2] })
  if (built.status !== 0) process.exit(built.status ?? 1)
}
await import(pathToFileURL(main).href)
