import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '@gateway/core'
import {
  arrivedBody,
  arrivingBody,
  type ArrivingBody,
  type BodyPlace,
  clientAddress,
  clientNetwork,
  comesFrom,
  type ConfirmedResponses,
  createServiceApp,
  endpointHandler,
  endResponse,
  fallbackHandler,
  hadNoEffect,
  type HealthSettings,
  type Log,
  type Metrics,
  publicDocuments,
  readBody,
  requestTarget,
  smallBytes,
  writeWhole,
} from '@gateway/server'
import { isRestPath, notFoundElsewhere } from '@gateway/wire'
import { type Express, type RequestHandler, Router } from 'express'
import { type Answer, overloaded, sendAnswer, writeAnswer } from './answer.ts'
import { documents } from './documents.ts'
import type { Backing, Endpoint } from './endpoint.ts'
import { endpoints, mount, prefix } from './routes.ts'

export interface XmlSettings extends Omit<Backing, 'gateway'> {
  /**
   * Responses that wait for confirmation. Must be settled after the server has closed. Several interfaces in one
   * process may share them.
   */
  readonly confirmedResponses: ConfirmedResponses
  readonly log: Log
  readonly metrics?: Metrics | undefined
}

/** Maximum size of a body, in bytes (ruling 4.1). The largest valid send has 2.9 MB. */
const bodyBytesMax = 4 * 1024 * 1024

/**
 * Returns a router with the endpoints of the XML interface (spec 4.3), for any Express app at any prefix. Other paths
 * pass to the next handler. A body that the app has already read is accepted as text or bytes, not as a parsed object.
 */
export const xmlRouter = (gateway: Gateway, settings: XmlSettings): Router =>
  Router().use(xmlHandler(gateway, settings))

function xmlHandler(gateway: Gateway, { clock, gate, confirmedResponses, log, metrics }: XmlSettings): RequestHandler {
  /**
   * Resolves to undefined if the client disconnected. A body that is still arriving occupies no place of the gate
   * (P-12, P-13).
   */
  const answerTo = async (
    request: IncomingMessage,
    response: ServerResponse,
    endpoint: Endpoint,
  ): Promise<Answer | undefined> => {
    if (request.method !== 'POST') return { trouble: 'wrong-method' }
    const network = clientNetwork(request)
    const origin = { network, address: clientAddress(request), comesFrom: comesFrom(request) }
    const place = gate.bodies.open(network)
    try {
      const body = await bodyOf(request, place)
      if (body === undefined) return { trouble: 'not-valid' }
      const contentType = request.headers['content-type']
      return await endpoint.run({ gateway, clock, gate }, { body, contentType, origin, response })
    } finally {
      place.release()
    }
  }
  return endpointHandler({
    log,
    metrics,
    service: 'xml',
    gate,
    prefix,
    caseSensitive: false,
    endpoints,
    answer: async (request, response, endpoint) => {
      const answer = await answerTo(request, response, endpoint)
      if (answer !== undefined) sendAnswer(response, endpoint.inRoot, answer, confirmedResponses)
    },
    // If the operation may have had an effect, such as a send, the answer has no `Retry-After` (ruling 1.25).
    answerFailure: (response, endpoint, _status, error) =>
      writeAnswer(response, endpoint.inRoot, hadNoEffect(error) ? overloaded : { trouble: 'unavailable' }),
  })
}

/** Returns the body, or undefined if the surrounding app has consumed it without keeping its text. */
async function bodyOf(request: IncomingMessage, place: BodyPlace): Promise<ArrivingBody | undefined> {
  const isSmall = Number(request.headers['content-length'] ?? NaN) <= smallBytes
  if (!request.readableEnded && !isSmall) return arrivingBody(request, bodyBytesMax, place)
  const read = await readBody(request, bodyBytesMax, place)
  return typeof read === 'object' && 'parsed' in read ? undefined : arrivedBody(read)
}

/**
 * Returns a handler that answers 404: in plain text, or in the REST envelope for paths below `/api/rest/` (ruling 3.8).
 */
export const xmlNotFound = ({ clock, log, metrics }: Pick<XmlSettings, 'clock' | 'log' | 'metrics'>): RequestHandler =>
  fallbackHandler({ log, metrics, service: 'xml' }, (response) => {
    const path = requestTarget(response.req)
    if (isRestPath(path)) writeWhole(response, notFoundElsewhere(path, clock.now()))
    else writePlain(response, 404, 'Not found')
  })

export interface XmlServerSettings extends XmlSettings {
  readonly health?: HealthSettings
}

/**
 * Returns an app with the XML interface, its documentation, health and metrics. Other paths are answered 404 in plain
 * text.
 */
export const createXmlServer = (gateway: Gateway, settings: XmlServerSettings): Express =>
  createServiceApp({
    ...settings,
    service: 'xml',
    mounted: [mount, xmlHandler(gateway, settings)],
    documents: publicDocuments(documents, settings.gate),
    notFound: xmlNotFound(settings),
    answerError: (_request, response) => writePlain(response, 503, 'Service unavailable'),
  })

/** Writes a plain-text response, for a path that is not an operation. */
function writePlain(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  endResponse(response, text)
}
