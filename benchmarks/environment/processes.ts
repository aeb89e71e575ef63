import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { cpuOf, memoryOf, type Memory } from './cpu.ts'

export type App = 'all-in-one' | 'rest' | 'asp' | 'xml' | 'dispatcher' | 'callbacks' | 'smpp'

/** Process of the gateway, started as an operator would. */
export interface Started {
  readonly app: App
  readonly url: string
  /** Returns the CPU time since its start, in µs. */
  cpu(): Promise<number>
  memory(): Promise<Memory>
  /** Returns the lines of its log with at least this pino level (40: warning, 50: error). */
  lines(level: number): Promise<string[]>
  /**
   * Suspends the process with SIGSTOP until it is resumed. If the pause is longer than a lease, other processes take
   * over.
   */
  pause(): void
  goOn(): void
  /** Sends SIGTERM and waits for the end. Throws if the exit code is not 0. */
  stop(): Promise<void>
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const startSeconds = 60
const stopSeconds = 30

/** Environment variables of the user that would change the measurement and are not passed on. */
const ours =
  /^(DATABASE_URL|DATA_DIR|HOST|PORT|CARRIERS|LOG_LEVEL|NODE_OPTIONS|PG.*|[A-Z]+_SECONDS|[A-Z]+_HOURS|[A-Z_]+_MAX)$/

const running = new Set<ChildProcess>()
let started = 0

/** Starts a process of the gateway. Its output goes into a file of the folder. */
export async function startApp(
  app: App,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<Started> {
  const path = join(folder, `${app}-${++started}.log`)
  const log = openSync(path, 'w')
  const others = Object.entries(process.env).filter(([name]) => !ours.test(name))
  const child = spawn(process.execPath, [join(root, 'apps', app, 'dist', 'main.js')], {
    cwd: root,
    env: { ...Object.fromEntries(others), PORT: '0', ...environment },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  running.add(child)
  const ended = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      running.delete(child)
      resolve(code)
    }),
  )
  const pid = child.pid ?? 0
  return {
    app,
    url: await urlIn(path, child),
    cpu: () => cpuOf(pid),
    memory: () => memoryOf(pid),
    lines: async (level) => {
      const lines = (await readFile(path, 'utf8')).split('\n')
      return lines.filter((line) => Number(/"level":(\d+)/.exec(line)?.[1]) >= level)
    },
    pause: () => child.kill('SIGSTOP'),
    goOn: () => child.kill('SIGCONT'),
    stop: async () => {
      child.kill('SIGCONT')
      child.kill('SIGTERM')
      const slow = delay(stopSeconds * 1000, 'slow' as const, { ref: false })
      const code = await Promise.race([ended, slow])
      if (code !== 0) throw new Error(`${app} ended with ${String(code)}: ${await endOf(path)}`)
    },
  }
}

async function urlIn(path: string, child: ChildProcess): Promise<string> {
  const deadline = performance.now() + startSeconds * 1000
  for (;;) {
    const url = /"url":"(http:[^"]+)"/.exec(await readFile(path, 'utf8'))?.[1]
    if (url !== undefined) return url
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`no start: ${await endOf(path)}`)
    await delay(20)
  }
}

const endOf = async (path: string): Promise<string> => (await readFile(path, 'utf8')).slice(-2000)

/** Ends all processes of an interrupted run. */
export async function endAll(): Promise<void> {
  await Promise.all(
    [...running].map(
      (child) =>
        new Promise<void>((resolve) => {
          child.once('close', () => resolve())
          child.kill('SIGKILL')
        }),
    ),
  )
}
