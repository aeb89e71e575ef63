import type { ServerResponse } from 'node:http'
import type { Gateway } from '@gateway/core'
import {
  createServiceApp,
  endpointHandler,
  fallbackHandler,
  hadNoEffect,
  publicDocuments,
  type HealthSettings,
  type Log,
  type Metrics,
} from '@gateway/server'
import { Router, type Express, type RequestHandler } from 'express'
import { failure, sendAnswer, unknownError, writeAnswer, type Failure } from './answer.ts'
import { browserOrigins } from './browser-origins.ts'
import { documents } from './documents.ts'
import { endpointRunner, noSuchPath, type Backing } from './endpoint.ts'
import { endpoints, pathRules, prefix } from './routes.ts'

export interface RestSettings extends Omit<Backing, 'gateway'> {
  readonly log: Log
  readonly metrics?: Metrics | undefined
  /** Pages of these origins may call the interface from a browser, such as `https://app.example.com`; none if not given (ruling 2.15). */
  readonly corsOrigins?: readonly string[] | undefined
}

/**
 * The endpoints of the REST interface (spec 4.1), for any Express app at any prefix; other paths pass to the next handler. One slash
 * at the end of a path is ignored (ruling 2.3). A body that was read before is accepted (docs/embedding.md).
 */
export const restRouter = (gateway: Gateway, settings: RestSettings): Router =>
  Router().use(restHandlers(gateway, settings))

function restHandlers(gateway: Gateway, settings: RestSettings): RequestHandler[] {
  const { clock, log, metrics, gate, corsOrigins = [] } = settings
  const run = endpointRunner({ gateway, clock, gate })
  const handler = endpointHandler({
    log,
    metrics,
    service: 'rest',
    gate,
    prefix,
    ...pathRules,
    endpoints,
    answer: async (request, response, ofPath, parameter) => {
      const answer = await run(ofPath, request, response, parameter)
      if (answer !== undefined) await sendAnswer(response, answer, { gate, now: clock.now() })
    },
    answerFailure: (response, _ofPath, status, error) => writeFailure(response, settings, status, error),
  })
  return corsOrigins.length === 0
    ? [handler]
    : [browserOrigins(corsOrigins, { log, metrics, service: 'rest' }), handler]
}

/** Answers whatever reaches it with 404 in the envelope. */
export const restNotFound = ({
  clock,
  log,
  metrics,
}: Pick<RestSettings, 'clock' | 'log' | 'metrics'>): RequestHandler =>
  fallbackHandler({ log, metrics, service: 'rest' }, (response) => writeAnswer(response, noSuchPath, clock.now()))

export interface RestServerSettings extends RestSettings {
  readonly health?: HealthSettings
}

/** An app with the REST interface, its documents, health and metrics, and 404 in the envelope on any other path. */
export const createRestServer = (gateway: Gateway, settings: RestServerSettings): Express =>
  createServiceApp({
    ...settings,
    service: 'rest',
    mounted: [prefix, ...restHandlers(gateway, settings)],
    documents: publicDocuments(documents, settings.gate),
    notFound: restNotFound(settings),
    answerError: (_request, response, status, error) => writeFailure(response, settings, status, error),
  })

/** Answers what a handler threw, in the envelope. */
function writeFailure(
  response: ServerResponse,
  { clock }: Pick<RestSettings, 'clock'>,
  status: 400 | 500,
  error: unknown,
): void {
  writeAnswer(response, status === 400 ? unreadable : trouble(error), clock.now())
}

const unreadable = failure('malformed-request', 'The request cannot be read.')

/**
 * Our own trouble (ruling 1.25). The language's own errors are mistakes of ours: 500. Whatever else is thrown comes from
 * what we stand on: 503, with `Retry-After` if nothing but reading was begun; else nobody knows here whether a send has happened.
 */
function trouble(error: unknown): Failure {
  const ours = [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind)
  if (ours) return unknownError
  return failure('unavailable', 'The service is not available.', hadNoEffect(error) ? { 'Retry-After': '1' } : {})
}
