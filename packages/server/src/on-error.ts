import type { IncomingMessage, ServerResponse } from 'node:http'
import { types } from 'node:util'
import type { ErrorRequestHandler, Request, Response } from 'express'
import { type Log, logFailure } from './log.ts'

const reported = Symbol('reported')

type Answered = ServerResponse & { [reported]?: true }

/** Returns true if the failure of a response is already logged. */
export const isReported = (response: ServerResponse): boolean => (response as Answered)[reported] === true

/** Writes the response in the form of the app. `status` is 400 if the request could not be read, else 500. */
export type AnswerError = (request: Request, response: Response, status: 400 | 500, error: unknown) => void

/** Returns the last middleware of an app, which passes errors of handlers to `handleFailure`. */
export const onError = (log: Log, answer: AnswerError): ErrorRequestHandler => {
  const failed = handleFailure(log)
  return (error: unknown, request, response, _next) =>
    failed(error, request, response, (status) => answer(request, response, status, error))
}

/**
 * Logs the error of a handler, unless it only reports that the client disconnected, and calls `answer`. If the response
 * has begun, or `answer` throws, destroys the connection, so that a client does not mistake a partial response for a
 * complete one.
 */
export const handleFailure = (log: Log) => {
  const fail = logFailure(log)
  return (
    error: unknown,
    request: IncomingMessage,
    response: ServerResponse,
    answer: (status: 400 | 500) => void,
  ): void => {
    if (response.destroyed && isDisconnect(error)) return
    const status = isUnreadable(error) ? 400 : 500
    if (status === 500) fail({ err: error, request })
    ;(response as Answered)[reported] = true
    if (response.headersSent) return void request.socket.destroy()
    try {
      answer(status)
    } catch (err) {
      log.error({ err, request }, 'the error response to a failed request could not be sent')
      request.socket.destroy()
    }
  }
}

const DISCONNECT_CODES = new Set([
  'ECONNRESET',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ABORT_ERR',
])

const isDisconnect = (error: unknown): boolean => {
  const code = types.isNativeError(error) && 'code' in error ? error.code : undefined
  return typeof code === 'string' && DISCONNECT_CODES.has(code)
}

// Express throws a URIError for a malformed `%` in a path parameter.
const isUnreadable = (error: unknown): boolean => types.isNativeError(error) && error.name === 'URIError'

const withoutEffectThrown = new WeakSet<Error>()

/** Runs `work` that changes nothing. Marks its errors as safe to repeat, because nothing was done (ruling 1.25). */
export async function withoutEffect<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw markWithoutEffect(error)
  }
}

/** Marks an error of work that changes nothing, and returns it. */
export function markWithoutEffect(error: unknown): unknown {
  if (error instanceof Error) withoutEffectThrown.add(error)
  return error
}

/** Returns true if the request can safely be repeated, because the error is marked or reports that nothing was done. */
export const hadNoEffect = (error: unknown): boolean =>
  error instanceof Error && (withoutEffectThrown.has(error) || ('hadNoEffect' in error && error.hadNoEffect === true))

const programmingErrors = [TypeError, RangeError, ReferenceError, SyntaxError]

/**
 * Returns true for an error class of JavaScript itself, such as TypeError, which indicates a mistake in our code. Other
 * errors have external causes.
 */
export const isProgrammingError = (error: unknown): boolean => programmingErrors.some((kind) => error instanceof kind)
