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

export interface Shutdown {
  /** Aborted by the first stop signal. */
  readonly stopping: AbortSignal
  /** Calls `reload` on SIGHUP, unless the terminal was closed. */
  readonly onHangUp: (reload: () => void) => void
  /** Registers a stop step. Throws after a stop signal, so that a start does not continue. */
  readonly onStop: (part: string, stop: Stop) => void
  /** Watches the start: the process is up when it resolves. */
  readonly watch: (start: Promise<void>) => void
  /** Runs the stop steps, last registered first, and exits. */
  readonly stop: (code: number) => Promise<void>
}

/** Stops a process: on a signal, on an uncaught error, or when it cannot start. */
export const createShutdown = ({ host, log, stopWithinSeconds, drainSeconds }: ShutdownSettings): Shutdown => {
  const steps: { what: string; stop: Stop }[] = []
  const controller = new AbortController()
  const stopping = controller.signal
  let isUp = false
  let ended = false
  let toldAt: number | undefined
  let started: Promise<void> = Promise.resolve()
  let endDrain: (() => void) | undefined
  let waitingFor = 'start'
  let deadline: NodeJS.Timeout | undefined
  let reload: (() => void) | undefined

  const exit = (code: number) => {
    if (ended) return
    ended = true
    clearTimeout(deadline)
    host.exit(code)
  }

  const drain = async () => {
    if (!isUp || drainSeconds === 0) return
    log.info({ seconds: drainSeconds }, 'no longer ready; still serving requests')
    const cut = new AbortController()
    endDrain = () => cut.abort()
    await delay(drainSeconds * 1000, undefined, { signal: cut.signal }).catch(() => undefined)
    endDrain = undefined
  }

  /** Runs the stop steps. Resolves to true if every step succeeded. */
  const runSteps = async (): Promise<boolean> => {
    let well = true
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      waitingFor = step.what
      try {
        await step.stop()
      } catch (err) {
        log.error({ err, what: step.what }, 'could not be stopped')
        well = false
      }
    }
    return well
  }

  const stop = async (code: number) => {
    controller.abort()
    await drain()
    deadline = setTimeout(() => {
      log.error({ waitingFor }, `not stopped within ${stopWithinSeconds} s`)
      exit(1)
    }, stopWithinSeconds * 1000)
    const startEnded = started.catch(() => undefined)
    await Promise.race([startEnded, delay(START_GRACE_MS, undefined, { ref: false })])
    const early = await runSteps()
    waitingFor = 'start'
    await startEnded
    const late = await runSteps()
    if (!ended) log.info('stopped')
    exit(early && late ? code : 1)
  }

  const onSignal = (signal: 'SIGTERM' | 'SIGINT') => {
    const now = performance.now()
    if (toldAt !== undefined && now - toldAt <= ONE_SIGNAL_MS) return
    const isFirst = toldAt === undefined
    toldAt = now
    if (!stopping.aborted) beginStop(signal)
    else if (endDrain !== undefined) endDrain()
    else if (!isFirst) exit(128 + constants.signals[signal])
  }

  const onHangUp = () => {
    if (stopping.aborted) return
    if (reload !== undefined && (!host.hasTerminal || host.isTerminalOpen())) reload()
    else if (host.hasTerminal) beginStop('SIGHUP')
    else log.info('SIGHUP is ignored: this process has no terminal')
  }

  const beginStop = (signal: string) => {
    log.info({ signal }, 'stopping')
    void stop(0)
  }

  const onUncaught = (error: unknown) => {
    if (ended) return
    log.fatal({ err: error }, 'uncaught error')
    exit(1)
  }

  host.on('SIGTERM', () => onSignal('SIGTERM'))
  host.on('SIGINT', () => onSignal('SIGINT'))
  host.on('SIGHUP', onHangUp)
  host.on('uncaughtException', onUncaught)
  host.on('unhandledRejection', onUncaught)

  return {
    stopping,
    onHangUp: (newReload) => void (reload = newReload),
    onStop: (part, stopIt) => {
      steps.push({ what: part, stop: stopIt })
      stopping.throwIfAborted()
    },
    watch: (start) => {
      started = start
      start.then(
        () => (isUp = true),
        () => undefined,
      )
    },
    stop,
  }
}
