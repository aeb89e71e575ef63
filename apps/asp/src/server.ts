import type { Gateway } from '@gateway/core'
import { createApp, nameEndpoint, onError, type Log, type Metrics } from '@gateway/server'
import type { Express, RequestHandler } from 'express'
import { failure, noSuchPath, unavailable, writeAnswer } from './answer.ts'
import { endpointRunner, type Backing } from './endpoint.ts'
import { endpoints, isAspPath } from './routes.ts'

export interface AspSettings extends Omit<Backing, 'gateway'> {
  readonly log: Log
  readonly metrics?: Metrics
  /** What the process answers beside the interface (health, metrics), on paths that `isAspPath` does not claim. */
  readonly beside?: readonly RequestHandler[]
}

/** The query-string interface (spec 4.2), and 404 on any other path. */
export function createAspServer(gateway: Gateway, settings: AspSettings): Express {
  const { clock, log, metrics, gate, beside = [] } = settings
  const run = endpointRunner({ gateway, clock, gate })
  const asp: RequestHandler = async (request, response, next) => {
    const path = request.path.toLowerCase()
    const endpoint = endpoints.get(path)
    if (endpoint === undefined) {
      if (isAspPath(path)) writeAnswer(response, noSuchPath)
      else next()
      return
    }
    nameEndpoint(response, path)
    const answer = await run(endpoint, request)
    if (answer !== undefined) writeAnswer(response, answer)
  }

  const app = createApp({ log, service: 'asp', ...(metrics && { metrics }) })
  app.use(asp, ...beside)
  app.use((_request, response) => {
    writeAnswer(response, noSuchPath)
  })
  app.use(
    onError(log, (_request, response, status) => writeAnswer(response, status === 400 ? unreadable : unavailable)),
  )
  return app
}

const unreadable = failure(400, 'Bad request')
