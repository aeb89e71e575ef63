import { createShutdown } from './shutdown.ts'
import { readEnvironment, type Environment, type Variables } from './environment.ts'
import { hideSecrets } from './hide-secrets.ts'
import { thisProcess, type Host } from './host.ts'
import { createLog, type Log } from './log.ts'
import type { processVariables } from './variables.ts'
import { version } from './version.ts'

/** What a process is given while it starts. */
export interface ProcessContext<V extends Variables> {
  readonly environment: Environment<V>
  readonly log: Log
  /** Aborted as soon as the process is told to stop. */
  readonly stopping: AbortSignal
  /**
   * Says how to stop what has just been started. The last one started is the first one stopped. Throws if the process has been told
   * to stop meanwhile, which ends the start.
   */
  readonly onStop: (what: string, stop: () => Promise<void> | void) => void
}

export interface ProcessSettings<V extends Variables> {
  readonly name: string
  readonly variables: V
  /** Starts one thing after the other, and tells `onStop` after each. Resolves when the process is up. */
  readonly start: (context: ProcessContext<V>) => Promise<void>
  /** The whole stop may take so long after DRAIN_SECONDS; 25 if not given (P-16). */
  readonly stopWithinSeconds?: number
  /** The process itself, if not given. */
  readonly host?: Host
}

/**
 * The main of a process: reads its environment, makes its log, starts it, and stops it on SIGTERM or SIGINT, in reverse
 * order (P-16). The only place that installs handlers for signals: nothing else in a process of ours may.
 *
 * Where there is a DRAIN_SECONDS, a process that is up is told by `stopping` and works on for so long before it stops; another signal
 * ends that wait. While it starts it does not wait. SIGHUP stops a process that was started in a terminal, which has closed then, and
 * does nothing to any other.
 *
 * Exit codes: 0 stopped as told; 1 could not start (one message on standard error, what had started is stopped), an
 * uncaught error (one fatal line), or not stopped in time; 128 + n at once for a second signal while it stops.
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
    const { LOG_LEVEL: level } = environment as { LOG_LEVEL: string }
    log = createLog({ level, name, ...(host.logTo && { destination: host.logTo }) })
  } catch (error) {
    cannotStart(error)
    host.exit(1)
    return
  }
  const { DRAIN_SECONDS: drainSeconds = 0 } = environment as { DRAIN_SECONDS?: number }
  const shutdown = createShutdown({ host, log, stopWithinSeconds, drainSeconds })
  log.info({ version, node: process.versions.node }, 'starting')
  const { stopping, onStop } = shutdown
  const started = (async () => start({ environment, log, stopping, onStop }))()
  shutdown.watch(started)
  try {
    await started
    log.info('started')
  } catch (error) {
    log.debug({ err: error }, 'cannot start')
    if (stopping.aborted) return
    log.fatal({ reason: explain(error) }, 'cannot start')
    cannotStart(error)
    await shutdown.stop(1)
  }
}

/** A message for a person: the error's and those of its causes, without passwords. */
const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return hideSecrets(String(error))
  const cause = error.cause instanceof Error && !error.message.includes(error.cause.message) ? error.cause : undefined
  return hideSecrets(error.message) + (cause ? ` (${explain(cause)})` : '')
}
