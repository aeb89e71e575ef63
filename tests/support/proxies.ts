import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { interfaces, type Interface } from './attempts.ts'
import type { Instance } from './pairs.ts'
import { freePorts } from './pairs.ts'
import { root } from './process.ts'

export type ProxyName = 'nginx' | 'haproxy'
export const proxyNames: readonly ProxyName[] = ['nginx', 'haproxy']

/** Proxy that runs with its documented configuration. */
export interface Proxy {
  readonly name: ProxyName
  readonly port: number
  readonly url: string
  /** Certificate that clients must trust. */
  readonly ca: string
  /** Runs the proxy's own check of the configuration. */
  readonly check: () => { readonly code: number | null; readonly text: string }
  /** Returns everything that it has written to logs. */
  readonly log: () => string
  /**
   * Makes the proxy send no new requests to an instance that is about to stop, in the documented way. Waits until the
   * proxy has stopped doing so.
   */
  readonly takeOut: (instance: Instance) => Promise<void>
  /** Waits until the proxy sends no new requests to an instance that stops. */
  readonly isOut: (instance: Instance) => Promise<void>
  /** Waits until the proxy may send requests to a started instance. */
  readonly putBack: (instance: Instance) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Returns why the documented proxies cannot run here, or undefined if they can. */
export function whyNoProxies(): string | undefined {
  if (process.getuid?.() !== 0) return 'they start as root'
  const missing = proxyNames.filter((name) => spawnSync(name, ['-v']).error !== undefined)
  return missing.length === 0 ? undefined : `not installed: ${missing.join(', ')} (apt-get install nginx haproxy)`
}

const documented = (path: string): string => readFileSync(join(root, 'docs', path), 'utf8')

/** Ports of the instances in the documented files. */
const documentedPorts: Readonly<Record<Interface, readonly [number, number]>> = {
  rest: [8081, 8091],
  asp: [8082, 8092],
  xml: [8083, 8093],
}

/** Returns the text of a documented file. Only the addresses, ports and paths are replaced by those of the test. */
function adapt(file: string, replaced: Readonly<Record<string, string>>): string {
  let text = documented(`proxy/${file}`)
  for (const [from, to] of Object.entries(replaced)) {
    if (!text.includes(from)) throw new Error(`${file} does not have ${from}`)
    text = text.replaceAll(from, to)
  }
  return text
}

function addressesOf({ instances, portalPort, callbacksPort }: Behind): Readonly<Record<string, string>> {
  const pairs = interfaces.flatMap((by) => documentedPorts[by].map((port, at) => [by, port, at] as const))
  const ports = Object.fromEntries(
    pairs.map(([by, port, at]) => {
      const here = instances.find((one) => one.by === by && one.at === at)
      return [`127.0.0.1:${port}`, `127.0.0.1:${here?.port ?? 0}`]
    }),
  )
  return { ...ports, '127.0.0.1:8084': `127.0.0.1:${portalPort}`, '127.0.0.1:8086': `127.0.0.1:${callbacksPort}` }
}

/** Creates the certificate with the documented command and returns it. */
function makeCertificate(folder: string): string {
  const line = /^openssl req (?:[^\n]*\\\n)*[^\n]*$/m.exec(documented('operations/proxy.md'))?.[0]
  if (line === undefined) throw new Error('docs/operations/proxy.md does not say how to make a certificate')
  execFileSync('sh', ['-c', line.replaceAll('/etc/gateway/', `${folder}/`)], { stdio: 'ignore' })
  return readFileSync(join(folder, 'tls.crt'), 'utf8')
}

/**
 * Starts a proxy in front of these processes. Its files are in `folder`, to which its unprivileged user must have
 * access.
 */
export async function startProxy(name: ProxyName, folder: string, behind: Behind): Promise<Proxy> {
  mkdirSync(folder)
  const ca = makeCertificate(folder)
  const [port = 0] = await freePorts(1)
  const start = name === 'nginx' ? startNginx : startHaproxy
  const proxy = start({ folder, port, ...behind })
  await until(() => proxy.log().includes(name === 'nginx' ? 'start worker process' : 'Loading success'), 60_000)
  return { name, port, url: `https://localhost:${port}`, ca, ...proxy }
}

interface Behind {
  readonly instances: readonly Instance[]
  readonly portalPort: number
  readonly callbacksPort: number
}

interface Place extends Behind {
  readonly folder: string
  readonly port: number
}

function startNginx({ folder, port, ...behind }: Place) {
  const file = join(folder, 'nginx.conf')
  const replaced = {
    ...addressesOf(behind),
    '/etc/gateway/': `${folder}/`,
    'listen 443': `listen 127.0.0.1:${port}`,
    '/var/log/nginx/': `${folder}/`,
    '/run/nginx.pid': `${folder}/nginx.pid`,
    '/var/lib/nginx/': `${folder}/`,
  }
  writeFileSync(file, adapt('nginx.conf', replaced))
  const args = ['-c', file, '-e', join(folder, 'before.log')]
  // The documented systemd unit sets this time zone.
  const running = run('nginx', [...args, '-g', 'daemon off;'], { TZ: 'Etc/GMT-2' })
  const logs = () => ['gateway.log', 'before.log', 'error.log'].map((log) => textOf(join(folder, log))).join('')
  const reload = async (from: string, to: string) => {
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
    const stopCount = () => count(textOf(join(folder, 'error.log')), /gracefully shutting down/g)
    const before = stopCount()
    process.kill(running.pid, 'SIGHUP')
    // The old workers of nginx accept no new requests from this line of the log on, and finish their present ones.
    await until(() => stopCount() > before, 60_000)
  }
  return {
    check: () => checked('nginx', [...args.slice(0, 2), '-e', 'stderr', '-t']),
    log: () => logs() + running.output(),
    takeOut: (one: Instance) => reload(`127.0.0.1:${one.port} max`, `127.0.0.1:${one.port} down max`),
    isOut: () => Promise.resolve(),
    putBack: (one: Instance) => reload(`127.0.0.1:${one.port} down max`, `127.0.0.1:${one.port} max`),
    stop: () => running.stop('SIGQUIT'),
  }
}

function startHaproxy({ folder, port, ...behind }: Place) {
  const file = join(folder, 'haproxy.cfg')
  const replaced = { ...addressesOf(behind), '/etc/gateway/': `${folder}/`, 'bind :443': `bind 127.0.0.1:${port}` }
  writeFileSync(file, adapt('haproxy.cfg', replaced))
  const running = run('haproxy', ['-W', '-db', '-f', file])
  const nameOf = ({ by, at }: Instance) => `Server ${by}/${by}${at + 1}`
  const reaches = async (one: Instance, state: 'UP' | 'DOWN'): Promise<void> => {
    const states = () => Array.from(running.output().matchAll(new RegExp(`^${nameOf(one)} is (UP|DOWN)`, 'gm')))
    // If an instance was away for less time than the health checks need to notice, HAProxy reports nothing. The state
    // then counts as UP.
    await until(() => (states().at(-1)?.[1] ?? 'UP') === state, 60_000)
  }
  return {
    check: () => checked('haproxy', ['-c', '-f', file]),
    log: running.output,
    // HAProxy needs no command for takeOut and putBack, because its health checks detect the state of the instance.
    takeOut: () => Promise.resolve(),
    isOut: (one: Instance) => reaches(one, 'DOWN'),
    putBack: (one: Instance) => reaches(one, 'UP'),
    stop: () => running.stop('SIGTERM'),
  }
}

const count = (text: string, of: RegExp): number => Array.from(text.matchAll(of)).length

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function checked(command: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  return { code: status, text: stdout + stderr }
}

function run(command: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(command, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return {
    pid: child.pid ?? 0,
    output: () => output,
    stop: (signal: NodeJS.Signals) => {
      child.kill(signal)
      return ended
    },
  }
}
