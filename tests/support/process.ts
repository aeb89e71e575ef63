import { spawn, type ChildProcess } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

type App = 'all-in-one' | 'rest' | 'asp' | 'xml' | 'dispatcher'
export type Environment = Readonly<Record<string, string>>

/** Variables of whoever runs the tests that would change what is tested. */
const ours = /^(DATABASE_URL|DATA_DIR|HOST|PORT|CARRIERS|LOG_LEVEL|PG.*)$/

/** The environment of the tests without what would change what is tested. */
export const cleanEnvironment = (environment: Environment): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name))),
  ...environment,
})

const running = new Set<ChildProcess>()

/** Starts an app as an operator does, on a free port, and waits until it listens. */
export async function startApp(app: App, environment: Environment): Promise<Started> {
  const child = spawn(process.execPath, [join(root, 'apps', app, 'dist', 'main.js')], {
    cwd: root,
    env: cleanEnvironment({ PORT: '0', ...environment }),
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
  const url = await until(() => {
    if (child.exitCode !== null) throw new Error(`${app} has ended with ${child.exitCode}:\n${output}`)
    return /"url":"(http:[^"]+)"/.exec(output)?.[1]
  }, 60_000)
  return {
    pid: child.pid ?? 0,
    url,
    output: () => output,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}

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
    const child = spawn(process.execPath, [join(root, 'scripts', 'gateway.mjs'), ...args], {
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

/**
 * A new folder for data, short enough for a socket in it and open to the user as whom PostgreSQL runs if we are root; and how to
 * remove it with the database in it.
 */
export async function dataFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'gw-'))
  await chmod(path, 0o755)
  return {
    path,
    remove: async () => {
      await removeCluster(path)
      await rm(path, { recursive: true, force: true })
    },
  }
}
