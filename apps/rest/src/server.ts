import type { Gateway } from '@gateway/core'
import { createApp, nameEndpoint, onError, type Log, type Metrics } from '@gateway/server'
import type { Express, RequestHandler, Response } from 'express'
import { failure, writeAnswer, type Answer, type Failure } from './answer.ts'
import { endpointRunner, noSuchPath, type Backing } from './endpoint.ts'
import { endpoints, isRestPath } from './routes.ts'

export interface RestSettings extends Omit<Backing, 'gateway'> {
  readonly log: Log
  readonly metrics?: Metrics
  /** What the process answers beside the interface (health, metrics), on paths that `isRestPath` does not claim. */
  readonly beside?: readonly RequestHandler[]
}

/** The REST interface (spec 4.1). Every answer carries the envelope, 404 on any other path included. */
export function createRestServer(gateway: Gateway, settings: RestSettings): Express {
  const { clock, log, metrics, gate, beside = [] } = settings
  const write = (response: Response, answer: Answer) => writeAnswer(response, answer, clock.now())
  const run = endpointRunner({ gateway, clock, gate })
  const rest: RequestHandler = async (request, response, next) => {
    const endpoint = endpoints.get(request.path)
    if (endpoint === undefined) {
      if (isRestPath(request.path)) write(response, noSuchPath)
      else next()
      return
    }
    nameEndpoint(response, request.path)
    const answer = await run(endpoint, request)
    if (answer !== undefined) write(response, answer)
  }

  const app = createApp({ log, service: 'rest', ...(metrics && { metrics }) })
  app.use(rest, ...beside)
  app.use((_request, response) => {
    write(response, noSuchPath)
  })
  app.use(
    onError(log, (_request, response, status, error) => write(response, status === 400 ? unreadable : trouble(error))),
  )
  return app
}

const unreadable = failure(400, 'The request cannot be read.')

/**
 * Our own trouble (ruling 1.25). The language's own errors are mistakes of ours: 500. Whatever else is thrown comes from
 * what we stand on: 503, without `Retry-After`, since nobody knows here whether a send has happened.
 */
function trouble(error: unknown): Failure {
  const ours = [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind)
  return ours ? failure(500, 'Unknown error.') : failure(503, 'The service is not available.')
}
