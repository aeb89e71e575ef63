import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cleanEnvironment, entryOf, type Environment } from '../support/process.ts'
import type { Figures } from './figures.ts'
import type { Network, Relay } from './network.ts'

export type App = 'rest' | 'asp' | 'xml' | 'portal' | 'dispatcher' | 'callbacks' | 'smpp'

/** Process of the gateway with its own relay to the database. It is restarted whenever it ends. */
export interface Member {
  readonly app: App
  readonly name: string
  readonly network: Network
  /** Relay of a dispatcher to its carrier. Undefined if the carrier is not another process. */
  readonly carrierLink: Relay | undefined
  /** URL; undefined while it does not listen. */
  url(): string | undefined
  /** Process id; undefined while it does not run. */
  runningPid(): number | undefined
  /** Process id; undefined while it does not listen. */
  pid(): number | undefined
  /** Time since which the process has run, listened and reached the database without a fault, by performance.now(). */
  undisturbedSince(): number
  kill(): void
  /** Times of the kills, by performance.now(). */
  kills(): readonly number[]
  /** Sends SIGSTOP, and SIGCONT after this time. */
  pause(milliseconds: number): void
  /** Sends SIGTERM and resolves to the exit code. The process is restarted unless `forGood`. */
  end(forGood: boolean): Promise<number | null>
  /** Resolves when the process listens. */
  ready(): Promise<void>
}

export interface MemberSettings {
  /** Folder of the checkout whose build is run. */
  readonly root: string
  readonly environment: Environment
  readonly figures: Figures
  /** Folder of the output of the processes. */
  readonly logs: string
  readonly carrierLink: Relay | undefined
}

export function startMember(app: App, name: string, network: Network, settings: MemberSettings): Member {
  const { root, figures, carrierLink } = settings
  const log = createWriteStream(join(settings.logs, `${name}.log`))
  const environment = { PORT: '0', ...settings.environment, DATABASE_URL: network.connectionString }
  let child: ChildProcess | undefined
  let ended: Promise<number | null> = Promise.resolve(null)
  let url: string | undefined
  let expected = false
  let over = false
  let listensSince = Infinity
  let pausedUntil = 0
  const kills: number[] = []

  function start(): void {
    const started = spawn(process.execPath, [entryOf(app, root)], {
      cwd: root,
      env: cleanEnvironment(environment),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child = started
    expected = false
    let heard = ''
    const hear = (text: string): void => {
      log.write(text)
      if (url !== undefined || child !== started) return
      heard += text
      url = /"url":"(http:[^"]+)"/.exec(heard)?.[1]
      listensSince = performance.now()
    }
    started.stdout.setEncoding('utf8').on('data', hear)
    started.stderr.setEncoding('utf8').on('data', hear)
    ended = new Promise((resolve) =>
      started.once('close', (code, signal) => {
        const listened = url !== undefined
        url = undefined
        if (!expected && listened) figures.broken('no process ends by itself', `${name}: ${signal ?? String(code)}`)
        // A process that cannot reach its database at the start reports that and exits, and its supervisor starts it
        // again.
        if (!expected && !listened) figures.count('starts that failed')
        resolve(code)
        if (!over) void delay(300).then(() => over || start())
      }),
    )
  }
  start()

  return {
    app,
    name,
    network,
    carrierLink,
    url: () => url,
    runningPid: () => (child?.exitCode === null && child.signalCode === null ? child.pid : undefined),
    pid: () => (url === undefined ? undefined : child?.pid),
    undisturbedSince: () =>
      url === undefined
        ? Infinity
        : Math.max(
            listensSince,
            pausedUntil,
            network.disturbedUntil(),
            carrierLink?.disturbedUntil() ?? 0,
            carrierLink?.connectedSince() ?? 0,
          ),
    kills: () => kills,
    kill: () => {
      kills.push(performance.now())
      expected = true
      url = undefined
      child?.kill('SIGKILL')
    },
    pause: (milliseconds) => {
      const paused = child
      pausedUntil = Math.max(pausedUntil, performance.now() + milliseconds)
      paused?.kill('SIGSTOP')
      setTimeout(() => paused?.kill('SIGCONT'), milliseconds)
    },
    end: (forGood) => {
      over = forGood
      expected = true
      child?.kill('SIGCONT')
      child?.kill('SIGTERM')
      return ended
    },
    ready: async () => {
      while (url === undefined) await delay(20)
    },
  }
}
