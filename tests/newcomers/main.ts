import { execFile, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '@gateway/core/testing'
import { removeCluster } from '@gateway/embedded-postgres'
import type { Browser } from 'playwright-core'
import { startBrowser } from '../portal/browser.ts'
import { somebody } from '../portal/person.ts'
import { root } from '../support/process.ts'

const run = promisify(execFile)

/** What somebody types, in a folder that is empty, until the gateway runs; the last command goes on running. */
type Path = (folder: string) => Promise<readonly (readonly [program: string, ...args: string[]])[]>

const paths: Readonly<Record<string, Path>> = {
  clone: (folder) =>
    Promise.resolve([
      ['git', 'clone', '--quiet', '--depth', '1', `file://${root}`, folder],
      ['npx', '-y', 'pnpm@12.21.0', 'start'],
    ]),
  npx: async (folder) => {
    const packed = `${folder}-packed`
    const { stdout } = await run(process.execPath, [join(root, 'scripts/pack.mjs'), packed, 'gateway-sms'])
    const [npm = '', ...install] = stdout.trim().split(' ')
    return [
      [npm, ...install],
      ['npx', 'gateway-sms'],
    ]
  },
}

/** Signs in by the link, sends, and waits until the page says that the message is delivered. */
async function sendByBrowser(browser: Browser, link: string): Promise<void> {
  const person = await somebody(browser, new URL(link).origin, 'by mouse, with scripts')
  await person.page.goto(link)
  await person.press('Sign in')
  await person.follow('Send')
  await person.fill('Text', 'Hello')
  await person.fill('Numbers', '27825550101')
  await person.press('Check before sending')
  await person.press('Send 1 message now')
  await person.sees('delivered', '#list')
  await person.leave()
}

async function timed(name: string, path: Path): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-newcomer-'))
  // Open to the user as whom PostgreSQL runs if we are root.
  await chmod(home, 0o755)
  const folder = join(home, 'gateway')
  await mkdir(folder)
  const { stdout: registry } = await run('npm', ['config', 'get', 'registry'])
  const { PATH = '' } = process.env
  const env = { PATH, HOME: home, PORT: '0', npm_config_registry: registry.trim(), npm_config_fund: 'false' }
  const commands = await path(folder)
  const browser = await startBrowser()
  const begun = performance.now()
  const seconds = () => ((performance.now() - begun) / 1000).toFixed(0)
  const last = commands.at(-1) ?? ['true']
  for (const [program, ...args] of commands.slice(0, -1)) await run(program, args, { cwd: folder, env })
  const installed = seconds()
  const [program, ...args] = last
  const child = spawn(program, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  try {
    const link = await until(() => {
      if (child.exitCode !== null) throw new Error(`it has ended:\n${output}`)
      return /http:\S+\/link\?token=\S+/.exec(output)?.[0]
    }, 600_000)
    const ready = seconds()
    await sendByBrowser(browser, link)
    console.log(`${name}: delivered after ${seconds()} s (first commands ${installed} s, first screen ${ready} s)`)
  } finally {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM')
    await ended
    await browser.close()
    await removeCluster(join(folder, 'data'))
    await rm(home, { recursive: true, force: true })
  }
}

const asked = process.argv.slice(2)
const [load = 0] = loadavg()
console.log(
  `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), load ${load.toFixed(1)}, Node ${process.version}`,
)
for (const name of asked.length === 0 ? Object.keys(paths) : asked) {
  const path = paths[name]
  if (path === undefined) throw new Error(`${name} is none of ${Object.keys(paths).join(', ')}`)
  await timed(name, path)
}
