import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { refuseOldNode } from '../packages/server/dist/refuse-old-node.js'

const hook = new URL('../packages/embedded-postgres/testing/load-typescript.mjs', import.meta.url).href
const register = `import { register } from 'node:module'; register(${JSON.stringify(hook)})`

/** Runs a TypeScript file on the sources of the workspace, with the arguments of the command line. Needs the build. */
export function runSources(url) {
  refuseOldNode()
  const args = [
    '--conditions=@gateway/source',
    '--import',
    `data:text/javascript,${encodeURIComponent(register)}`,
    fileURLToPath(url),
    ...process.argv.slice(2),
  ]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  child.on('close', (code) => (process.exitCode = code ?? 1))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
}
