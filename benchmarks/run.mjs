// Runs main.ts on the sources of the benchmarks, with the arguments of the command line.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const hook = new URL('../packages/embedded-postgres/testing/load-typescript.mjs', import.meta.url).href
const register = `import { register } from 'node:module'; register(${JSON.stringify(hook)})`
const args = [
  '--conditions=@gateway/source',
  '--import',
  `data:text/javascript,${encodeURIComponent(register)}`,
  fileURLToPath(new URL('main.ts', import.meta.url)),
  ...process.argv.slice(2),
]
const child = spawn(process.execPath, args, { stdio: 'inherit' })
child.on('close', (code) => (process.exitCode = code ?? 1))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
