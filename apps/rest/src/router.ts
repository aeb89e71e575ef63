import type { ServerResponse } from 'node:http'
import type { Gateway } from '@gateway/core'
import { guideDocuments } from '@gateway/guide'
import {
  createServiceApp,
  endpointHandler,
  fallbackHandler,
  hadNoEffect,
  isProgrammingError,
  type HealthSettings,
  type Log,
  type Metrics,
  prepareResponse,
  publicDocuments,
  requestIdHeader,
  requestTarget,
  type Service,
  writeWhole,
} from '@gateway/server'
import { interfaceOf, notFoundElsewhere } from '@gateway/wire'
import cors from 'cors'
import { type Express, type RequestHandler, Router } from 'express'
import { failure, type Failure, sendAnswer, unknownError, writeAnswer } from './answer.ts'
import { documents } from './documents.ts'
import { type Backing, endpointRunner, noSuchPath } from './endpoint.ts'
import { endpoints, pathRules, prefix } from './routes.ts'

export interface RestSettings extends Omit<Backing, 'gateway'> {
  readonly log: Log
  readonly metrics?: Metrics | undefined
  /**
   * Origins whose pages may call the interface from a browser, such as `https://app.example.com`. None by default
   * (ruling 2.15).
   */
  readonly corsOrigins?: readonly string[] | undefined
}

/**
 * Returns a router with the endpoints of the REST interface (spec 4.1), for any Express app at any prefix. Other paths
 * pass to the next handler. One trailing slash of a path is ignored (ruling 2.3). A body that the app has already
 * parsed is accepted (docs/embedding.md).
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

/**
 * Returns a handler that answers 404 in the REST envelope, or in plain text at a path of another interface below `/api`
 * (ruling 3.8).
 */
export const restNotFound = ({
  clock,
  log,
  metrics,
}: Pick<RestSettings, 'clock' | 'log' | 'metrics'>): RequestHandler =>
  fallbackHandler({ log, metrics, service: 'rest' }, (response) => {
    const path = requestTarget(response.req)
    const interfaceName = interfaceOf(path)
    if (interfaceName === 'xml' || interfaceName === 'query-string')
      writeWhole(response, notFoundElsewhere(path, clock.now()))
    else writeAnswer(response, noSuchPath, clock.now())
  })

export interface RestServerSettings extends RestSettings {
  readonly health?: HealthSettings
}

/**
 * Returns an app with the REST interface, its documentation, the guide, health and metrics. Other paths are answered
 * 404 in the envelope.
 */
export const createRestServer = (gateway: Gateway, settings: RestServerSettings): Express =>
  createServiceApp({
    ...settings,
    service: 'rest',
    mounted: [prefix, ...restHandlers(gateway, settings)],
    documents: publicDocuments(new Map([...documents, ...guideDocuments()]), settings.gate),
    notFound: restNotFound(settings),
    answerError: (_request, response, status, error) => writeFailure(response, settings, status, error),
  })

/** Answers an error that a handler threw, in the envelope. */
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
 * Returns the answer to an error that a handler threw (ruling 1.25). A programming error is 500, any other error 503. A
 * 503 has `Retry-After` if nothing was done; without the header, the request may have been carried out.
 */
function trouble(error: unknown): Failure {
  if (isProgrammingError(error)) return unknownError
  return failure('unavailable', 'The service is not available.', hadNoEffect(error) ? { 'Retry-After': '1' } : {})
}

/**
 * Lets pages of these origins call the interface from a browser (ruling 2.15, the Fetch standard): preflight requests
 * are answered 204, and responses carry the CORS headers. Requests of other origins pass unchanged. Cookies are never
 * allowed.
 */
export function browserOrigins(origins: readonly string[], service: Service): RequestHandler {
  const begin = prepareResponse(service)
  const allowed = new Set(origins)
  const allow = cors({
    origin: [...allowed],
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', requestIdHeader],
    exposedHeaders: ['Retry-After', requestIdHeader],
    maxAge: 7200, // Chrome caches a preflight response for at most two hours, other browsers for less.
  })
  return (request, response, next) => {
    const { origin = '', 'access-control-request-method': requestedMethod } = request.headers
    const isOptions = request.method === 'OPTIONS'
    if (!allowed.has(origin) || (isOptions && requestedMethod === undefined)) {
      next()
      return
    }
    if (isOptions) begin(response)
    allow(request, response, next)
  }
}
