import type { Gateway } from '@gateway/core'
import {
  type ConfirmedResponses,
  createServiceApp,
  endpointHandler,
  fallbackHandler,
  hadNoEffect,
  type HealthSettings,
  type Log,
  type Metrics,
  publicDocuments,
  requestTarget,
  writeWhole,
} from '@gateway/server'
import { isRestPath, notFoundElsewhere } from '@gateway/wire'
import { type Express, type RequestHandler, Router } from 'express'
import { failure, noSuchPath, overloaded, sendAnswer, unavailable, writeAnswer } from './answer.ts'
import { documents } from './documents.ts'
import { type Backing, endpointRunner } from './endpoint.ts'
import { endpoints, mount, prefix } from './routes.ts'

export interface AspSettings extends Omit<Backing, 'gateway'> {
  /**
   * Responses that wait for their confirmation. They must be settled after the server has closed. Several interfaces in
   * one process may share them.
   */
  readonly confirmedResponses: ConfirmedResponses
  readonly log: Log
  readonly metrics?: Metrics | undefined
}

/**
 * Returns a router with the endpoints of the query-string interface (spec 4.2), for any Express app at any prefix.
 * Other paths pass to the next handler. A form that the app has already parsed is accepted (docs/embedding.md).
 */
export const aspRouter = (gateway: Gateway, settings: AspSettings): Router =>
  Router().use(aspHandler(gateway, settings))

function aspHandler(gateway: Gateway, { clock, log, metrics, gate, confirmedResponses }: AspSettings): RequestHandler {
  const run = endpointRunner({ gateway, clock, gate })
  return endpointHandler({
    log,
    metrics,
    service: 'asp',
    gate,
    prefix,
    caseSensitive: false,
    endpoints,
    answer: async (request, response, endpoint) => {
      const answer = await run(endpoint, request)
      if (answer !== undefined) await sendAnswer(response, answer, { gate, confirmedResponses })
    },
    answerFailure: (response, _endpoint, status, error) => writeAnswer(response, failureOf(status, error)),
  })
}

/** Returns a handler that answers 404 in plain text, and below `/api/rest/` in the envelope of REST (ruling 3.8). */
export const aspNotFound = ({ clock, log, metrics }: Pick<AspSettings, 'clock' | 'log' | 'metrics'>): RequestHandler =>
  fallbackHandler({ log, metrics, service: 'asp' }, (response) => {
    const path = requestTarget(response.req)
    if (isRestPath(path)) writeWhole(response, notFoundElsewhere(path, clock.now()))
    else writeAnswer(response, noSuchPath)
  })

export interface AspServerSettings extends AspSettings {
  readonly health?: HealthSettings
}

/**
 * Returns an app with the query-string interface, its documentation, health and metrics. Other paths are answered 404
 * in plain text.
 */
export const createAspServer = (gateway: Gateway, settings: AspServerSettings): Express =>
  createServiceApp({
    ...settings,
    service: 'asp',
    mounted: [mount, aspHandler(gateway, settings)],
    documents: publicDocuments(documents, settings.gate),
    notFound: aspNotFound(settings),
    answerError: (_request, response, status, error) => writeAnswer(response, failureOf(status, error)),
  })

/** Returns the answer to a request whose handler threw. */
const failureOf = (status: 400 | 500, error: unknown) => {
  if (status === 400) return unreadable
  return hadNoEffect(error) ? overloaded : unavailable
}

const unreadable = failure(400, 'Bad request')
