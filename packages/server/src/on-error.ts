import type { IncomingMessage, ServerResponse } from 'node:http'
import { types } from 'node:util'
import type { ErrorRequestHandler, Request, Response } from 'express'
import type { Log } from './log.ts'
import { logFailure } from './log-failure.ts'
import { markReported } from './observe-requests.ts'

/** Writes the answer in the app's own form. `status` is 400 if the request itself could not be read, else 500. */
export type AnswerError = (request: Request, response: Response, status: 400 | 500, error: unknown) => void

/** The last middleware of an app: `handleFailure` of whatever a handler threw. */
export const onError = (log: Log, answer: AnswerError): ErrorRequestHandler => {
  const failed = handleFailure(log)
  return (error: unknown, request, response, _next) =>
    failed(error, request, response, (status) => answer(request, response, status, error))
}

/**
 * Whatever a handler threw is logged, as `logFailure` does it, and answered by `answer`. If the answer has begun, or `answer` fails too, the
 * connection is broken off, so that half an answer is not taken for a whole one. What only says that the client has gone is
 * nobody's failure and is not reported.
 */
export const handleFailure = (log: Log) => {
  const fail = logFailure(log)
  return (
    error: unknown,
    request: IncomingMessage,
    response: ServerResponse,
    answer: (status: 400 | 500) => void,
  ): void => {
    if (response.destroyed && isHangUp(error)) return
    const status = isUnreadable(error) ? 400 : 500
    if (status === 500) fail({ err: error, request })
    markReported(response)
    if (response.headersSent) return void request.socket.destroy()
    try {
      answer(status)
    } catch (err) {
      log.error({ err, request }, 'the answer to a failed request failed')
      request.socket.destroy()
    }
  }
}

const HANG_UPS = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'ABORT_ERR'])

const isHangUp = (error: unknown): boolean => {
  const code = types.isNativeError(error) && 'code' in error ? error.code : undefined
  return typeof code === 'string' && HANG_UPS.has(code)
}

// Express says so of a malformed `%` in a path parameter.
const isUnreadable = (error: unknown): boolean => types.isNativeError(error) && error.name === 'URIError'
