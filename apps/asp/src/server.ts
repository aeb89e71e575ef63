import type { RequestListener } from 'node:http'
import type { Gateway } from '@gateway/core'
import { nameEndpoint, servePaths, type HandOvers, type Log, type Metrics } from '@gateway/server'
import type { RequestHandler } from 'express'
import { failure, giveAnswer, noSuchPath, unavailable, writeAnswer } from './answer.ts'
import { endpointRunner, type Backing } from './endpoint.ts'
import { endpoints, isAspPath } from './routes.ts'

export interface AspSettings extends Omit<Backing, 'gateway'> {
  /** Must be settled after the server has closed; several interfaces in one process may share them. */
  readonly handOvers: HandOvers
  readonly log: Log
  readonly metrics?: Metrics
  /** What the process answers beside the interface (health, metrics), on paths that `isAspPath` does not claim. */
  readonly beside?: readonly RequestHandler[]
}

/** The query-string interface (spec 4.2), and 404 on any other path. */
export function createAspServer(gateway: Gateway, settings: AspSettings): RequestListener {
  const { clock, log, metrics, gate, handOvers, beside = [] } = settings
  const run = endpointRunner({ gateway, clock, gate })
  return servePaths({
    log,
    metrics,
    service: 'asp',
    isOurs: isAspPath,
    answer: async (request, response, given) => {
      const path = given.toLowerCase()
      const endpoint = endpoints.get(path)
      if (endpoint === undefined) {
        writeAnswer(response, noSuchPath)
        return
      }
      nameEndpoint(response, path)
      const answer = await run(endpoint, request)
      if (answer !== undefined) await giveAnswer(response, answer, { gate, handOvers })
    },
    answerFailure: (response, _path, status) => writeAnswer(response, status === 400 ? unreadable : unavailable),
    beside,
  })
}

const unreadable = failure(400, 'Bad request')
