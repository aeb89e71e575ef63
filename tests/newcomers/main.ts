import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
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
const readme = readFileSync(join(root, 'README.md'), 'utf8')

type Command = readonly [program: string, ...args: string[]]

/** Returns a command line of the README without its comment. Throws if the README has no such line any more. */
function lineOf(fits: RegExp): string {
  const line = readme.split('\n').find((one) => fits.test(one.trim()))
  if (line === undefined) throw new Error(`The README has no line ${String(fits)}.`)
  return line.replace(/ +#.*$/, '').trim()
}

const words = (line: string): Command => line.split(' ') as unknown as Command

/**
 * Returns the commands that a newcomer types in an empty folder until the gateway runs. The last command keeps running.
 */
type Path = (folder: string) => Promise<readonly Command[]>

const clone = (folder: string): Command => ['git', 'clone', '--quiet', '--depth', '1', `file://${root}`, folder]

const paths: Readonly<Record<string, Path>> = {
  clone: (folder) => Promise.resolve([clone(folder), words(lineOf(/^npx -y pnpm@\S+ start /))]),
  npx: async (folder) => {
    const line = lineOf(/pack-all \/tmp\/packed gateway-sms/)
    const [program, ...args] = words(line.replace('/tmp/packed', `${folder}-packed`))
    const { stdout } = await run(program, args, { cwd: root })
    const install = stdout.split('\n').find((one) => one.startsWith('npm install ')) ?? ''
    return [words(install), words(lineOf(/^npx gateway-sms( |$)/))]
  },
  // Without a container engine, scripts replace these lines of the README and do the same. The base image is already on
  // the machine, as if it had been pulled.
  image: async (folder) => {
    lineOf(/^docker build --file deploy\/Dockerfile --tag gateway \.$/)
    lineOf(/^docker run --read-only --tmpfs \/tmp --publish 8080:8080 --volume gateway:\/data gateway$/)
    const images = process.env['IMAGES'] ?? `${folder}-images`
    const script = (name: string): string => join(root, 'deploy/image', name)
    await run(script('build.sh'), [images], { env: { ...process.env, BASE_ONLY: 'yes' } })
    return [clone(folder), [join(folder, 'deploy/image/build.sh'), images], [script('run.sh'), images]]
  },
}

/** Signs in by the link, sends a message, and waits until the page shows it as delivered. */
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

/** Tries the other commands of the README and of the first output of the gateway. Their time is not measured. */
async function tryTheRest(output: string): Promise<void> {
  const origin = /The gateway runs at (http:[\w.:/]+\d)/.exec(output)?.[1] ?? ''
  const KEY = /API key +(\S+)/.exec(output)?.[1] ?? ''
  const shell = async (command: string) => (await run('sh', ['-c', command], { env: { ...process.env, KEY } })).stdout
  const status = /^ *curl -s -H "Authorization: \$KEY"[\s\S]*?\/status$/m.exec(readme)?.[0] ?? ''
  const answer = await shell(status.replace('http://127.0.0.1:8080', origin))
  if (!answer.includes('DELIVERED')) throw new Error(`Asked for its status: ${answer}`)
  const printed = /^ *curl (?:[^\n]*\\\n)*[^\n]*$/m.exec(output)?.[0] ?? ''
  const sent = await shell(printed)
  if (!sent.includes('"accepted":true')) throw new Error(`The command of the first screen: ${printed}\n${sent}`)
  for (const path of ['/developers', '/docs/guide/', '/docs/openapi.json']) {
    const { status } = await fetch(`${origin}${path}`)
    if (status !== 200) throw new Error(`${path} is answered with ${status}`)
  }
}

async function timed(name: string, path: Path): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-newcomer-'))
  // If the test runs as root, PostgreSQL runs as another user, which needs access to this folder.
  await chmod(home, 0o755)
  const folder = join(home, 'gateway')
  await mkdir(folder)
  const { stdout: registry } = await run('npm', ['config', 'get', 'registry'])
  const { PATH = '', BUILD_OPTIONS, MIRROR } = process.env
  const env = { PATH, HOME: home, PORT: '0', npm_config_registry: registry.trim(), npm_config_fund: 'false' }
  const options = { cwd: folder, env: { ...env, BUILD_OPTIONS, MIRROR }, maxBuffer: 2 ** 26 }
  const commands = await path(folder)
  const browser = await startBrowser()
  const begun = performance.now()
  const seconds = () => Math.round((performance.now() - begun) / 1000)
  const last = commands.at(-1) ?? ['true']
  for (const [program, ...args] of commands.slice(0, -1)) await run(program, args, options)
  const installed = seconds()
  const [program, ...args] = last
  const child = spawn(program, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
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
    const delivered = seconds()
    console.log(
      `${name}: delivered after ${delivered} s (before the last command ${installed} s, first screen ${ready} s)`,
    )
    await tryTheRest(output)
    return `${name} ${delivered} s`
  } finally {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGTERM')
    await ended
    await browser.close()
    await removeCluster(join(folder, 'data'))
    await rm(home, { recursive: true, force: true })
  }
}

const names = process.argv.slice(2)
const loaded = () => `load ${loadavg().at(0)?.toFixed(1) ?? ''}`
console.log(`${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${loaded()}, Node ${process.version}`)
const times: string[] = []
for (const name of names.length === 0 ? Object.keys(paths) : names) {
  const path = paths[name]
  if (path === undefined) throw new Error(`${name} is none of ${Object.keys(paths).join(', ')}`)
  times.push(await timed(name, path))
}
console.log(`Delivered in the browser: ${times.join(', ')}; ${loaded()} at the end.`)
