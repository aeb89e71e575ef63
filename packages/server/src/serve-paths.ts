import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import { beginAnswer, createApp } from './create-app.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { handleFailure, onError } from './on-error.ts'
import { requestPath } from './request-path.ts'

/** An interface whose endpoints are known by their whole path. */
export interface PathsSettings {
  readonly log: Log
  readonly metrics?: Metrics | undefined
  /** The name in logs and metrics. */
  readonly service: string
  /** Whether a path is this interface's to answer. */
  readonly isOurs: (path: string) => boolean
  /** Answers any path, those that do not exist too; it is not decoded. Nothing but its own `nameEndpoint` names it. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void> | void
  /** Answers what `answer` threw: 400 if the request itself could not be read, else 500. */
  readonly answerFailure: (response: ServerResponse, path: string, status: 400 | 500, error: unknown) => void
  /** What the process answers beside it (health, metrics): asked first about every path that is not ours. */
  readonly beside: readonly RequestHandler[]
}

/**
 * Serves an interface in front of Express, which serves all that is beside it. Headers, measuring, logging and failures are
 * those of `createApp` and `onError`. Of the CPU that a single send costs node, Express was nearly a half (375 µs with it, 200
 * without): it changes the prototype of each request and answer, and node's own code for them is slow from then on.
 */
export const servePaths = (settings: PathsSettings): RequestListener => {
  const { log, metrics, service, isOurs, answer, answerFailure, beside } = settings
  const begin = beginAnswer({ log, metrics, service })
  const failed = handleFailure(log)

  const app = createApp({ log, service, ...(metrics && { metrics }) })
  for (const handler of beside) app.use(handler)
  app.use((request, response) => answer(request, response, requestPath(request)))
  app.use(onError(log, (request, response, ...why) => answerFailure(response, requestPath(request), ...why)))

  const answerOurs = async (request: IncomingMessage, response: ServerResponse, path: string) => {
    try {
      await answer(request, response, path)
    } catch (error) {
      failed(error, request, response, (status) => answerFailure(response, path, status, error))
    }
  }
  return (request, response) => {
    const path = requestPath(request)
    if (!isOurs(path)) return void app(request, response)
    begin(response)
    void answerOurs(request, response, path)
  }
}
