import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { until } from '@gateway/core/testing'
import { removeCluster } from '@gateway/embedded-postgres'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Started {
  readonly pid: number
  /** Base URL of the process, as its log names it. */
  readonly url: string
  /** Returns its output so far, on standard output and standard error. */
  output(): string
  /** Sends a signal, waits for the end and returns the exit code, or null if a signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export type App = 'all-in-one' | 'rest' | 'asp' | 'xml' | 'portal' | 'dispatcher' | 'callbacks' | 'smpp'
export type Environment = Readonly<Record<string, string>>

/**
 * Variables in the environment of the person who runs the tests that would change a test. Also NODE_EXTRA_CA_CERTS,
 * which would make each process read 140 certificate authorities.
 */
const ours = /^(DATABASE_URL|DATA_DIR|HOST|PORT|CARRIERS|LOG_LEVEL|NODE_EXTRA_CA_CERTS|PG.*)$/

/** Returns the environment of this process without the variables that would change a test, plus the given variables. */
export const cleanEnvironment = (environment: Environment): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name))),
  ...environment,
})

const running = new Set<ChildProcess>()

/** Process that may not be up yet. */
export interface Spawned extends Omit<Started, 'url'> {
  /** Settles with the exit code, or null if a signal ended it. */
  readonly ended: Promise<number | null>
  hasEnded(): boolean
}

/**
 * Returns the file that starts a program: its bundle in a test run, and the file of the last build outside a test run
 * or for another checkout.
 */
export function entryOf(name: App | 'operator' | 'smsc-simulator', checkout = root): string {
  const bundles = checkout === root ? process.env['GATEWAY_TEST_BUNDLES'] : undefined
  const folder = name === 'smsc-simulator' ? 'packages' : 'apps'
  return bundles === undefined ? join(checkout, folder, name, 'dist', 'main.js') : join(bundles, `${name}.mjs`)
}

/** Makes a test file start the shipped files, in which each module is a separate file, instead of the bundles. */
export function startWhatIsShipped(): void {
  const bundles = process.env['GATEWAY_TEST_BUNDLES']
  beforeAll(() => {
    delete process.env['GATEWAY_TEST_BUNDLES']
  })
  afterAll(() => {
    if (bundles !== undefined) process.env['GATEWAY_TEST_BUNDLES'] = bundles
  })
}

/** Starts an app on a free port without waiting. */
export function spawnApp(app: App, environment: Environment, entry = entryOf(app)): Spawned {
  return watched(process.execPath, [entry], { PORT: '0', ...environment })
}

/** Starts the command `gateway-smsc` without waiting. */
export function spawnSmsc(args: readonly string[]): Spawned {
  return watched(process.execPath, [entryOf('smsc-simulator'), ...args], {})
}

/** Starts the command `gateway-http-provider` without waiting. It is not bundled, because it has no dependencies. */
export function spawnHttpProvider(args: readonly string[]): Spawned {
  return watched(process.execPath, [join(root, 'packages/smsc-simulator/dist/http-main.js'), ...args], {})
}

/** Starts an app under a limit of the shell, such as `-n 512`. */
export function spawnLimited(limit: string, app: App, environment: Environment): Spawned {
  const command = `ulimit ${limit} && exec '${process.execPath}' '${entryOf(app)}'`
  return watched('sh', ['-c', command], { PORT: '0', ...environment })
}

/**
 * Starts an app in a terminal of its own. Killing the process `pid` closes the terminal. Needs `script` of util-linux.
 */
export function spawnInTerminal(app: App, environment: Environment): Spawned {
  const command = `exec '${process.execPath}' '${entryOf(app)}'`
  return watched('script', ['-qfec', command, '/dev/null'], { PORT: '0', SHELL: '/bin/sh', ...environment })
}

function watched(command: string, args: readonly string[], environment: Environment): Spawned {
  const child = spawn(command, args, {
    cwd: root,
    env: cleanEnvironment(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      running.delete(child)
      resolve(code)
    }),
  )
  return {
    pid: child.pid ?? 0,
    ended,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    output: () => output,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}

/** Starts an app as an operator does, on a free port, and waits until it listens. */
export async function startApp(app: App, environment: Environment, entry = entryOf(app)): Promise<Started> {
  const spawned = spawnApp(app, environment, entry)
  return { ...spawned, url: await listening(spawned) }
}

/** Waits until the process listens, and returns its URL. */
export const listening = ({ hasEnded, output }: Pick<Spawned, 'hasEnded' | 'output'>): Promise<string> =>
  until(() => {
    if (hasEnded()) throw new Error(`it has ended:\n${output()}`)
    return /"url":"(http:[^"]+)"/.exec(output())?.[1]
  }, 60_000)

/** Kills processes that a failed test left running. */
export const killLeftovers = (): void => {
  for (const child of running) child.kill('SIGKILL')
}

export interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the command line `gateway`. */
export const runGateway = (args: readonly string[], environment: Environment, input?: string): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [entryOf('operator'), ...args], {
      cwd: root,
      env: cleanEnvironment(environment),
    })
    running.add(child)
    let [out, err] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    child.on('error', reject)
    child.on('close', (code) => {
      running.delete(child)
      resolve({ code, out, err })
    })
    child.stdin.end(input ?? '')
  })

/** Runs a command that must succeed and returns its JSON. */
export async function gatewayJson<Result>(args: readonly string[], environment: Environment): Promise<Result> {
  const { code, out, err } = await runGateway([...args, '--json'], environment)
  if (code !== 0) throw new Error(`gateway ${args.join(' ')} ended with ${String(code)}: ${err}${out}`)
  return JSON.parse(out) as Result
}

export interface DataFolder {
  readonly path: string
  /** Removes the folder with its database. */
  remove(): Promise<void>
}

/**
 * Creates an empty data folder. Its path is short enough for a socket. If the tests run as root, the user of PostgreSQL
 * can access the folder. The folder is in memory if the run keeps its data there.
 */
export async function dataFolder(): Promise<DataFolder> {
  const path = await mkdtemp(join(process.env['GATEWAY_TEST_FOLDER'] ?? tmpdir(), 'gw-'))
  await chmod(path, 0o755)
  return {
    path,
    remove: async () => {
      await removeCluster(path)
      await rm(path, { recursive: true, force: true })
    },
  }
}

/**
 * Copies an empty database with the present schema into `folder`, which is created if necessary. A copy takes a tenth
 * of the time of a first start.
 */
export async function copyCluster(folder: string): Promise<void> {
  const cluster = process.env['GATEWAY_TEST_CLUSTER']
  if (cluster === undefined) return
  await mkdir(folder, { recursive: true })
  await promisify(execFile)('cp', ['-a', join(cluster, 'postgres'), folder])
}

/** Creates a data folder with an empty database, for tests that are not about a first start. */
export async function databaseFolder(): Promise<DataFolder> {
  const data = await dataFolder()
  await copyCluster(data.path)
  return data
}
