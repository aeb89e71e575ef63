import { constants } from 'node:os'
import type { DestinationStream } from 'pino'
import { readEnvironment, type Environment, type Variables } from './environment.ts'
import { hideSecrets } from './hide-secrets.ts'
import { createLog, type Log } from './log.ts'
import type { processVariables } from './variables.ts'

/** What a process is given while it starts. */
export interface Life<V extends Variables> {
  readonly environment: Environment<V>
  readonly log: Log
  /** Aborted as soon as the process is told to stop. */
  readonly stopping: AbortSignal
  /** Says how to stop what has just been started. The last one started is the first one stopped. */
  readonly onStop: (what: string, stop: () => Promise<void> | void) => void
}

export interface ProcessSettings<V extends Variables> {
  readonly name: string
  readonly variables: V
  /** Starts one thing after the other, and tells `onStop` after each. Resolves when the process is up. */
  readonly start: (life: Life<V>) => Promise<void>
  /** The whole stop may take so long; 25 if not given (P-16). */
  readonly stopWithinSeconds?: number
  /** The process itself, if not given. */
  readonly host?: Host
}

/** What `runProcess` needs of the process. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stderr: { write(text: string): unknown }
  readonly logTo?: DestinationStream
  on(event: 'SIGTERM' | 'SIGINT' | 'uncaughtException' | 'unhandledRejection', told: (what: unknown) => void): unknown
  exit(code: number): void
}

const thisProcess: Host = {
  env: process.env,
  stderr: process.stderr,
  on: (event, told) => process.on(event, told),
  exit: (code) => process.exit(code),
}

// Ctrl-C reaches every process of a terminal, and a package manager hands the one that it got on: two so close are one.
const ONE_SIGNAL_MS = 300

/**
 * The main of a process: reads its environment, makes its log, starts it, and stops it on SIGTERM or SIGINT, in reverse
 * order (P-16). The only place that installs handlers for signals: nothing else in a process of ours may.
 *
 * Exit codes: 0 stopped as told; 1 could not start (one message on standard error, what had started is stopped), an
 * uncaught error (one fatal line), or not stopped in time; 128 + n at once for a second signal.
 */
export const runProcess = async <const V extends Variables & Pick<typeof processVariables, 'LOG_LEVEL'>>(
  settings: ProcessSettings<V>,
): Promise<void> => {
  const { name, variables, start, stopWithinSeconds = 25, host = thisProcess } = settings
  const cannotStart = (error: unknown) => host.stderr.write(`${name} cannot start: ${explain(error)}\n`)
  let environment: Environment<V>
  let log: Log
  try {
    environment = readEnvironment(variables, host.env)
    const level = (environment as { LOG_LEVEL: string }).LOG_LEVEL
    log = createLog({ level, name, ...(host.logTo && { destination: host.logTo }) })
  } catch (error) {
    cannotStart(error)
    host.exit(1)
    return
  }
  const ending = createEnding({ host, log, stopWithinSeconds })
  const { stopping, onStop } = ending
  const started = (async () => start({ environment, log, stopping, onStop }))()
  ending.watch(started)
  try {
    await started
  } catch (error) {
    log.debug({ err: error }, 'cannot start')
    if (stopping.aborted) return
    log.fatal({ reason: explain(error) }, 'cannot start')
    cannotStart(error)
    await ending.stop(1)
  }
}

/** How a process ends: by a signal, by an error that nobody caught, or because it could not start. */
const createEnding = ({ host, log, stopWithinSeconds }: { host: Host; log: Log; stopWithinSeconds: number }) => {
  const steps: { what: string; stop: () => Promise<void> | void }[] = []
  const controller = new AbortController()
  let ended = false
  let signalAt: number | undefined
  let started: Promise<void> = Promise.resolve()
  let deadline: NodeJS.Timeout | undefined

  const exit = (code: number) => {
    if (ended) return
    ended = true
    clearTimeout(deadline)
    host.exit(code)
  }

  const stop = async (code: number) => {
    controller.abort()
    let waitingFor = 'start'
    deadline = setTimeout(() => {
      log.error({ waitingFor }, `not stopped within ${stopWithinSeconds} s`)
      exit(1)
    }, stopWithinSeconds * 1000)
    await started.catch(() => undefined)
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      waitingFor = step.what
      try {
        await step.stop()
      } catch (err) {
        log.error({ err, what: step.what }, 'could not be stopped')
        code = 1
      }
    }
    if (!ended) log.info('stopped')
    exit(code)
  }

  const onSignal = (signal: 'SIGTERM' | 'SIGINT') => {
    const now = performance.now()
    signalAt ??= now
    if (now - signalAt > ONE_SIGNAL_MS) exit(128 + constants.signals[signal])
    if (controller.signal.aborted) return
    log.info({ signal }, 'stopping')
    void stop(0)
  }
  host.on('SIGTERM', () => onSignal('SIGTERM'))
  host.on('SIGINT', () => onSignal('SIGINT'))

  const onUncaught = (error: unknown) => {
    if (ended) return
    log.fatal({ err: error }, 'an error that nobody caught')
    exit(1)
  }
  host.on('uncaughtException', onUncaught)
  host.on('unhandledRejection', onUncaught)

  return {
    stopping: controller.signal,
    onStop: (what: string, stopIt: () => Promise<void> | void) => void steps.push({ what, stop: stopIt }),
    watch: (start: Promise<void>) => {
      started = start
    },
    stop,
  }
}

/** A message for a person: the error's and those of its causes, without passwords. */
const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return hideSecrets(String(error))
  const cause = error.cause instanceof Error && !error.message.includes(error.cause.message) ? error.cause : undefined
  return hideSecrets(error.message) + (cause ? ` (${explain(cause)})` : '')
}
