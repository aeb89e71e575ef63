import { setFlagsFromString } from 'node:v8'
import { type Environment, misspeltVariables, readEnvironment, type Variables } from './environment.ts'
import { hideSecrets } from './hide-secrets.ts'
import { createLog, type Log } from './log.ts'
import { type Host, Shutdown, thisProcess } from './shutdown.ts'
import type { processVariables } from './variables.ts'
import { release, versionLine } from './version.ts'

/** Context that a process receives when it starts. */
export interface ProcessContext<V extends Variables> {
  /** Name of the process, such as `rest`. */
  readonly name: string
  readonly environment: Environment<V>
  readonly log: Log
  /** Aborted by the first stop signal. */
  readonly stopping: AbortSignal
  /**
   * Registers a stop step for the part that was just started; steps run in reverse order. Throws after a stop signal,
   * which ends the start.
   */
  readonly onStop: (part: string, stop: () => Promise<void> | void) => void
  /** Calls `reload` on SIGHUP, which otherwise has no effect. A closed terminal still stops the process. */
  readonly onHangUp: (reload: () => void) => void
  /** Sets the clock of log lines, in milliseconds since 1970. */
  readonly useClock: (clock: { now(): number }) => void
}

export interface ProcessSettings<V extends Variables> {
  readonly name: string
  readonly variables: V
  /**
   * Names of the variables of all processes. The process warns of an environment variable whose name resembles one of
   * them.
   */
  readonly published?: readonly string[]
  /** Starts the parts one after the other and calls `onStop` after each. Resolves when the process is up. */
  readonly start: (context: ProcessContext<V>) => Promise<void>
  /** Maximum duration of the whole stop in seconds, counted from the end of DRAIN_SECONDS. Default 25 (P-16). */
  readonly stopWithinSeconds?: number
  /**
   * Maximum garbage in the heap, in percent of the live data. By default V8 decides, up to 300.
   */
  readonly garbagePercent?: number
  /** Host of the process; default the Node process. */
  readonly host?: Host
}

/**
 * Runs a process: answers its arguments, or reads its environment, starts it, and stops it in reverse order on SIGTERM,
 * SIGINT or a closed terminal (P-16). Signals, DRAIN_SECONDS and exit codes: docs/operations/run.md, "Stopping" and
 * "Exit codes".
 */
export const runProcess = async <const V extends Variables & Pick<typeof processVariables, 'LOG_LEVEL'>>(
  settings: ProcessSettings<V>,
): Promise<void> => {
  const { name, variables, start, stopWithinSeconds = 25, host = thisProcess } = settings
  if (settings.garbagePercent !== undefined) boundGarbage(settings.garbagePercent)
  const cannotStart = (error: unknown) => host.stderr.write(`${name} cannot start: ${explain(error)}\n`)
  const reply = replyTo(host.args, name, variables)
  if (reply !== undefined) {
    ;(reply.code === 0 ? host.stdout : host.stderr).write(reply.text)
    host.exit(reply.code)
    return
  }
  let environment: Environment<V>
  let log: Log
  let clock: { now(): number } = Date
  const useClock = (other: { now(): number }) => void (clock = other)
  try {
    environment = readEnvironment(variables, host.env)
    const { LOG_LEVEL: level } = environment as { LOG_LEVEL: string }
    log = createLog({ level, name, now: () => clock.now(), ...(host.logTo && { destination: host.logTo }) })
  } catch (error) {
    cannotStart(error)
    host.exit(1)
    return
  }
  const { DRAIN_SECONDS: drainSeconds = 0 } = environment as { DRAIN_SECONDS?: number }
  const shutdown = new Shutdown({ host, log, stopWithinSeconds, drainSeconds })
  log.info({ ...release, node: process.versions.node }, 'starting')
  for (const { name: variable, likely } of misspeltVariables(host.env, settings.published ?? []))
    log.warn({ variable, likely }, 'this variable is not read: it may be misspelt')
  const { stopping, onStop, onHangUp } = shutdown
  const starting = (async () => start({ name, environment, log, stopping, onStop, onHangUp, useClock }))()
  const started = Promise.race([starting, nothingLeft(host)])
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

/**
 * Rejects when the event loop is empty during the start. The process would otherwise end with exit code 13 and without
 * a message.
 */
const nothingLeft = (host: Host): Promise<never> =>
  new Promise((_, reject) => {
    host.on('beforeExit', () =>
      reject(new Error('the start waits for something that can no longer happen. This is a defect')),
    )
  })

/** Returns the messages of an error and its causes, without passwords. */
const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return hideSecrets(String(error))
  const cause = error.cause instanceof Error && !error.message.includes(error.cause.message) ? error.cause : undefined
  return hideSecrets(error.message) + (cause ? ` (${explain(cause)})` : '')
}

export interface Reply {
  readonly code: 0 | 2
  readonly text: string
}

/**
 * Returns what a server prints for its command-line arguments, or undefined without arguments. A server starts only
 * without arguments, because its environment configures it.
 */
export const replyTo = (args: readonly string[], name: string, variables: Variables): Reply | undefined => {
  const [first] = args
  if (first === undefined) return undefined
  if (args.length === 1 && (first === '--help' || first === '-h')) return { code: 0, text: help(name, variables) }
  if (args.length === 1 && (first === '--version' || first === '-V')) return { code: 0, text: `${versionLine}\n` }
  const complaint = `${name} does not start: it takes no arguments, and was given ${args.join(' ')}.`
  return { code: 2, text: `${complaint} Environment variables set it up; --help lists them.\n` }
}

const help = (name: string, variables: Variables): string =>
  [
    `Starts ${name}, a server of the gateway, until it gets SIGTERM or SIGINT. Options: --help, --version.`,
    'It is set up by environment variables (docs/configuration.md):',
    '',
    ...Object.entries(variables).map(([variable, { desc, choices, default: byDefault }]) => {
      const description = desc ?? `one of ${choices?.join(', ') ?? ''}`
      const usual = textOf(byDefault)
      return `  ${variable.padEnd(24)} ${description}${usual === '' ? '' : ` (${usual})`}`
    }),
    '',
  ].join('\n')

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',')
  if (typeof value === 'number' || typeof value === 'boolean') return value.toString()
  return typeof value === 'string' ? value : ''
}

/**
 * Makes V8 collect the heap when it has grown by this percentage of the data that was alive after the last collection.
 * By default V8 waits for up to 300 (docs/decisions/0061-little-garbage.md).
 */
export const boundGarbage = (percent: number): void => setFlagsFromString(`--heap-growing-percent=${percent}`)
