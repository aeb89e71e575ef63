import type { RequestListener, ServerResponse } from 'node:http'
import type { Gateway } from '@gateway/core'
import { nameEndpoint, servePaths, type Log, type Metrics } from '@gateway/server'
import type { RequestHandler } from 'express'
import { failure, giveAnswer, writeAnswer, type Failure } from './answer.ts'
import { endpointRunner, noSuchPath, type Backing } from './endpoint.ts'
import { endpoints, isRestPath } from './routes.ts'

export interface RestSettings extends Omit<Backing, 'gateway'> {
  readonly log: Log
  readonly metrics?: Metrics
  /** What the process answers beside the interface (health, metrics), on paths that `isRestPath` does not claim. */
  readonly beside?: readonly RequestHandler[]
}

/** The REST interface (spec 4.1). Every answer carries the envelope, 404 on any other path included. */
export function createRestServer(gateway: Gateway, settings: RestSettings): RequestListener {
  const { clock, log, metrics, gate, beside = [] } = settings
  const write = (response: ServerResponse, answer: string | Failure) => writeAnswer(response, answer, clock.now())
  const run = endpointRunner({ gateway, clock, gate })
  return servePaths({
    log,
    metrics,
    service: 'rest',
    isOurs: isRestPath,
    answer: async (request, response, path) => {
      const endpoint = endpoints.get(path)
      if (endpoint === undefined) {
        write(response, noSuchPath)
        return
      }
      nameEndpoint(response, path)
      const answer = await run(endpoint, request)
      if (answer !== undefined) await giveAnswer(response, answer, { gate, now: clock.now() })
    },
    answerFailure: (response, _path, status, error) => write(response, status === 400 ? unreadable : trouble(error)),
    beside,
  })
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
