import { writeSync } from 'node:fs'
import { IncomingMessage, ServerResponse } from 'node:http'
import { types } from 'node:util'
import { type DestinationStream, type Logger, pino } from 'pino'
import { hideSecrets } from './hide-secrets.ts'
import { pathOf, requestIdOf } from './request-parts.ts'

export type Log = Logger

const SECRET_NAME =
  /pass(word|wd|phrase)?$|secret|token|api_?key|^key$|authorization|cookie|credential|connection_?string|database_?url/i
const CONTENT_NAME = /^(headers|body|query|params|parameters|values|texts?|message_?text|content)$/i
const HIDDEN = '[hidden]'
const TEXT_MAX = 4000
const ITEMS_MAX = 20
const DEPTH_MAX = 5

/**
 * Returns a pino logger that writes synchronously and drops lines that standard output does not accept. Fields are
 * filtered by name and by `hideSecrets`, so that no credential and no content of a message reaches a line (P-15). Never
 * put data of a caller into the text of a line.
 */
export const createLog = ({ level, name, destination, now = Date.now }: LogSettings): Log => {
  const log = pino(
    {
      level,
      base: { pid: process.pid, name },
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }), log: (fields) => showFields(fields, 0) },
      serializers: { err: (shown: unknown) => shown },
      hooks: { streamWrite: hideSecrets },
    },
    destination ?? { write: (line) => void writeOut(line) },
  )
  // Filter the fields of child loggers here, because pino does not pass them through the formatter.
  const child = Reflect.get<object, string>(log, 'child') as (this: Log, fields: object, options?: object) => Log
  const guarded: typeof child = function (fields, options) {
    return child.call(this, showFields(fields, 0), options)
  }
  return Object.assign(log, { child: guarded })
}

export interface LogSettings {
  /** Level of pino, or `silent`. */
  readonly level: string
  /** Name of the process. */
  readonly name: string
  /** Destination of the lines; default standard output. */
  readonly destination?: DestinationStream
  /** Returns the time of a line, in milliseconds since 1970; by default of the clock of this machine. */
  readonly now?: () => number
}

const showFields = (fields: object, depth: number): Record<string, unknown> => {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    shown[name] = SECRET_NAME.test(name) || CONTENT_NAME.test(name) ? HIDDEN : show(value, depth)
  }
  return shown
}

const show = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return value.slice(0, TEXT_MAX)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (depth >= DEPTH_MAX) return '[deeper]'
  if (types.isNativeError(value)) return showError(value, depth)
  if (value instanceof IncomingMessage) return { id: requestIdOf(value), method: value.method, path: pathOf(value) }
  if (value instanceof ServerResponse) return { status: value.statusCode }
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => show(item, depth + 1))
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return showFields(value, depth + 1)
  return `[${value.constructor.name}]`
}

// Only listed properties of an error are logged, because database errors also contain statement parameters and rows.
const showError = (error: Error, depth: number): Record<string, unknown> => ({
  type: error.name,
  message: error.message.slice(0, TEXT_MAX),
  stack: error.stack?.slice(0, TEXT_MAX),
  ...('code' in error && { code: show(error.code, depth + 1) }),
  ...(error.cause !== undefined && { cause: show(error.cause, depth + 1) }),
  ...(error instanceof AggregateError && { errors: show(error.errors, depth + 1) }),
})

type LogFailure = (fields: object) => void

const failuresOf = new WeakMap<Log, LogFailure>()

/**
 * Logs failed requests, at most one line a second for each log, and so for each process. Otherwise an outage would
 * write a stack trace for each request, fill disks and hide other lines. `unwritten` is the number of failures since
 * the previous line that were not logged.
 */
export const logFailure = (log: Log): LogFailure => {
  const known = failuresOf.get(log)
  if (known !== undefined) return known
  const made = throttled(1000, (unwritten, fields: object) => log.error({ ...fields, unwritten }, 'request failed'))
  failuresOf.set(log, made)
  return made
}

/**
 * Returns a function that calls `write` at most once every `intervalMs`. The first argument of `write` is the number of
 * calls that were dropped since the previous one; the others are passed through.
 */
export const throttled = <Arguments extends readonly unknown[]>(
  intervalMs: number,
  write: (dropped: number, ...values: Arguments) => void,
) => {
  let silentUntil = -Infinity
  let dropped = 0
  return (...values: Arguments): void => {
    const now = performance.now()
    if (now < silentUntil) return void (dropped += 1)
    write(dropped, ...values)
    silentUntil = now + intervalMs
    dropped = 0
  }
}

const PAUSE_MS = 10

/**
 * Writes synchronously to a file descriptor, by default standard output. Returns true if everything was written. Waits
 * for a slow reader. Never throws, because a closed terminal, a closed pipe or a full disk must not stop a server.
 */
export const writeOut = (text: string, fd = 1): boolean => {
  for (let rest: Uint8Array = Buffer.from(text); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return false
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
    }
  }
  return true
}
