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
  /** Where it listens, as its log says. */
  readonly url: string
  /** All that it has written so far to standard output and standard error. */
  output(): string
  /** Sends a signal and waits for the end; returns the exit code, null if a signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export type App = 'all-in-one' | 'rest' | 'asp' | 'xml' | 'portal' | 'dispatcher'
export type Environment = Readonly<Record<string, string>>

/** Variables of whoever runs the tests that would change what is tested, or have each process read 140 authorities. */
const ours = /^(DATABASE_URL|DATA_DIR|HOST|PORT|CARRIERS|LOG_LEVEL|NODE_EXTRA_CA_CERTS|PG.*)$/

/** The environment of the tests without what would change what is tested. */
export const cleanEnvironment = (environment: Environment): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name))),
  ...environment,
})

const running = new Set<ChildProcess>()

/** A process of ours that may not be up yet. */
export interface Spawned extends Omit<Started, 'url'> {
  /** Settles with the exit code, null if a signal ended it. */
  readonly ended: Promise<number | null>
  hasEnded(): boolean
}

/** The bundle that the test run has made of it; outside a test run, and of another checkout, what was built last. */
export function entryOf(name: App | 'operator' | 'smsc-simulator', checkout = root): string {
  const bundles = checkout === root ? process.env['GATEWAY_TEST_BUNDLES'] : undefined
  const folder = name === 'smsc-simulator' ? 'packages' : 'apps'
  return bundles === undefined ? join(checkout, folder, name, 'dist', 'main.js') : join(bundles, `${name}.mjs`)
}

/** For a test file that runs the files that are shipped, each a module. */
export function startWhatIsShipped(): void {
  const bundles = process.env['GATEWAY_TEST_BUNDLES']
  beforeAll(() => {
    delete process.env['GATEWAY_TEST_BUNDLES']
  })
  afterAll(() => {
    if (bundles !== undefined) process.env['GATEWAY_TEST_BUNDLES'] = bundles
  })
}

/** Starts an app on a free port, and does not wait for anything. */
export function spawnApp(app: App, environment: Environment, entry = entryOf(app)): Spawned {
  return watched(process.execPath, [entry], { PORT: '0', ...environment })
}

/** Starts the command `gateway-smsc`, and does not wait for anything. */
export function spawnSmsc(args: readonly string[]): Spawned {
  return watched(process.execPath, [entryOf('smsc-simulator'), ...args], {})
}

/** Starts an app under a limit of the shell, such as `-n 512`. */
export function spawnLimited(limit: string, app: App, environment: Environment): Spawned {
  const command = `ulimit ${limit} && exec '${process.execPath}' '${entryOf(app)}'`
  return watched('sh', ['-c', command], { PORT: '0', ...environment })
}

/** Starts an app in a terminal of its own, which closes when this `pid` is killed. Needs `script` of util-linux. */
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

/** Waits until it listens, and answers where. */
export const listening = ({ hasEnded, output }: Pick<Spawned, 'hasEnded' | 'output'>): Promise<string> =>
  until(() => {
    if (hasEnded()) throw new Error(`it has ended:\n${output()}`)
    return /"url":"(http:[^"]+)"/.exec(output())?.[1]
  }, 60_000)

/** Ends what a failed test left running. */
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
  /** Removes it, with the database in it. */
  remove(): Promise<void>
}

/**
 * A new folder for data, as before a first start: short enough for a socket in it, open to the user as whom PostgreSQL
 * runs if we are root, and in memory where the run has its data there.
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
 * Puts an empty database of the present schema below `folder`, made if need be: a copy costs a tenth of a first start.
 */
export async function copyCluster(folder: string): Promise<void> {
  const cluster = process.env['GATEWAY_TEST_CLUSTER']
  if (cluster === undefined) return
  await mkdir(folder, { recursive: true })
  await promisify(execFile)('cp', ['-a', join(cluster, 'postgres'), folder])
}

/** A new folder for data with an empty database, for what is not about a first start. */
export async function databaseFolder(): Promise<DataFolder> {
  const data = await dataFolder()
  await copyCluster(data.path)
  return data
}
