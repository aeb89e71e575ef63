import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { DestinationStream } from 'pino'
import { hasTerminal, isTerminalOpen, removeEarlyHandlers } from './early-signals.ts'
import type { Log } from './log.ts'

/** Parts of the Node process that `runProcess` uses; tests pass their own. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Arguments of the command line, without node and the file. */
  readonly args: readonly string[]
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  readonly logTo?: DestinationStream
  /** True if the process was started in a terminal. */
  readonly hasTerminal: boolean
  /**
   * Returns true if a terminal of the process is still open. If none is open, SIGHUP means that the terminal was
   * closed.
   */
  isTerminalOpen(): boolean
  on(
    event: 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'uncaughtException' | 'unhandledRejection' | 'beforeExit',
    listener: (value: unknown) => void,
  ): unknown
  exit(code: number): void
}

export const thisProcess: Host = {
  env: process.env,
  args: process.argv.slice(2),
  stdout: process.stdout,
  stderr: process.stderr,
  hasTerminal,
  isTerminalOpen,
  on: (event, listener) => {
    process.on(event, listener)
    removeEarlyHandlers()
  },
  exit: (code) => process.exit(code),
}

export interface ShutdownSettings {
  readonly host: Host
  readonly log: Log
  readonly stopWithinSeconds: number
  /**
   * Seconds for which a started process still serves requests after a stop signal. It reports that it is not ready
   * meanwhile.
   */
  readonly drainSeconds: number
}

type Stop = () => Promise<void> | void

// Ctrl-C sends SIGINT to every process of a terminal, and a package manager forwards the signal to its child again. Two
// signals within this time therefore count as one.
const ONE_SIGNAL_MS = 300
// Milliseconds for which a stop waits for a start that is still running, before it runs the registered stop steps.
const START_GRACE_MS = 2000

/**
 * Stops a process: on a signal, on an uncaught error, or when it cannot start.
 *
 * | state    | begins with                  | a stop signal             | ends with                         |
 * | -------- | ---------------------------- | ------------------------- | --------------------------------- |
 * | starting | the constructor              | begins to stop            | the end of the start              |
 * | up       | the end of the start         | begins to drain           | a stop signal                     |
 * | draining | a stop signal, if up         | ends the drain            | `drainSeconds`                    |
 * | stopping | the end of the drain         | exits, if it is not first | the last step, or the time limit  |
 * | ended    | the exit                     | does nothing              |                                   |
 */
export class Shutdown {
  readonly #settings: ShutdownSettings
  /** Steps to run, last registered first. */
  readonly #steps: { readonly part: string; readonly stop: Stop }[] = []
  readonly #controller = new AbortController()
  #isUp = false
  #hasEnded = false
  #signalledAt: number | undefined
  #start: Promise<void> = Promise.resolve()
  #endDrain: (() => void) | undefined
  /** Part that the stop waits for. */
  #waitingFor = 'start'
  #deadline: NodeJS.Timeout | undefined
  #reload: (() => void) | undefined

  constructor(settings: ShutdownSettings) {
    this.#settings = settings
    const { host } = settings
    const onUncaught = (error: unknown): void => this.#onUncaught(error)
    host.on('SIGTERM', () => this.#onSignal('SIGTERM'))
    host.on('SIGINT', () => this.#onSignal('SIGINT'))
    host.on('SIGHUP', () => this.#onHangUp())
    host.on('uncaughtException', onUncaught)
    host.on('unhandledRejection', onUncaught)
  }

  /** Aborted by the first stop signal. */
  get stopping(): AbortSignal {
    return this.#controller.signal
  }

  /** Calls `reload` on SIGHUP, unless the terminal was closed. */
  readonly onHangUp = (reload: () => void): void => {
    this.#reload = reload
  }

  /** Registers a stop step. Throws after a stop signal, so that a start does not continue. */
  readonly onStop = (part: string, stop: Stop): void => {
    this.#steps.push({ part, stop })
    this.stopping.throwIfAborted()
  }

  /** Watches the start: the process is up when it resolves. */
  watch(start: Promise<void>): void {
    this.#start = start
    start.then(
      () => (this.#isUp = true),
      () => undefined,
    )
  }

  /** Runs the stop steps, last registered first, and exits. */
  async stop(code: number): Promise<void> {
    const { log, stopWithinSeconds } = this.#settings
    this.#controller.abort()
    await this.#drain()
    this.#deadline = setTimeout(() => {
      log.error({ waitingFor: this.#waitingFor }, `the process did not stop within ${stopWithinSeconds} s`)
      this.#exit(1)
    }, stopWithinSeconds * 1000)
    const startEnded = this.#start.catch(() => undefined)
    await Promise.race([startEnded, delay(START_GRACE_MS, undefined, { ref: false })])
    const early = await this.#runSteps()
    this.#waitingFor = 'start'
    await startEnded
    const late = await this.#runSteps()
    if (!this.#hasEnded) log.info('stopped')
    this.#exit(early && late ? code : 1)
  }

  async #drain(): Promise<void> {
    const { log, drainSeconds } = this.#settings
    if (!this.#isUp || drainSeconds === 0) return
    log.info({ seconds: drainSeconds }, 'no longer ready; still serving requests')
    const cut = new AbortController()
    this.#endDrain = () => cut.abort()
    await delay(drainSeconds * 1000, undefined, { signal: cut.signal }).catch(() => undefined)
    this.#endDrain = undefined
  }

  /** Runs the stop steps. Resolves to true if every step succeeded. */
  async #runSteps(): Promise<boolean> {
    let well = true
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      this.#waitingFor = step.part
      try {
        await step.stop()
      } catch (err) {
        this.#settings.log.error({ err, what: step.part }, 'a part of the process could not be stopped')
        well = false
      }
    }
    return well
  }

  #onSignal(signal: 'SIGTERM' | 'SIGINT'): void {
    const now = performance.now()
    if (this.#signalledAt !== undefined && now - this.#signalledAt <= ONE_SIGNAL_MS) return
    const isFirst = this.#signalledAt === undefined
    this.#signalledAt = now
    if (!this.stopping.aborted) this.#beginStop(signal)
    else if (this.#endDrain !== undefined) this.#endDrain()
    else if (!isFirst) this.#exit(128 + constants.signals[signal])
  }

  #onHangUp(): void {
    const { host, log } = this.#settings
    if (this.stopping.aborted) return
    if (this.#reload !== undefined && (!host.hasTerminal || host.isTerminalOpen())) this.#reload()
    else if (host.hasTerminal) this.#beginStop('SIGHUP')
    else log.info('SIGHUP is ignored: this process has no terminal')
  }

  #beginStop(signal: string): void {
    this.#settings.log.info({ signal }, 'stopping')
    void this.stop(0)
  }

  #onUncaught(error: unknown): void {
    if (this.#hasEnded) return
    this.#settings.log.fatal({ err: error }, 'uncaught error')
    this.#exit(1)
  }

  #exit(code: number): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#deadline)
    this.#settings.host.exit(code)
  }
}
