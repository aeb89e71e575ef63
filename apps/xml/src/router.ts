import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock, Gateway } from '@gateway/core'
import {
  fallbackHandler,
  clientNetwork,
  endResponse,
  endpointRouter,
  hadNoEffect,
  readBody,
  type AdmissionGate,
  type ConfirmedResponses,
  type Log,
  type Metrics,
} from '@gateway/server'
import type { RequestHandler, Router } from 'express'
import { sendAnswer, overloaded, writeAnswer, type Answer } from './answer.ts'
import type { Endpoint } from './endpoint.ts'
import { endpoints, prefix } from './routes.ts'

export interface XmlSettings {
  readonly clock: Clock
  /** How much this process works on at a time; several interfaces in one process may share one. */
  readonly gate: AdmissionGate
  /** Must be settled after the server has closed; several interfaces in one process may share them. */
  readonly confirmedResponses: ConfirmedResponses
  readonly log: Log
  readonly metrics?: Metrics | undefined
}

/** A legal send is 2.9 MB (ruling 4.1). */
const bodyBytesMax = 4 * 1024 * 1024

/**
 * The endpoints of the XML interface (spec 4.3), to be mounted in any app of Express at any prefix. What is not a path of it, in any
 * letter case, goes on to the next handler; `xmlNotFound` behind it gives the interface's own 404.
 *
 * A document that was read before is accepted as text or bytes; of one that a parser made an object of nothing can be read.
 */
export function xmlRouter(gateway: Gateway, { clock, gate, confirmedResponses, log, metrics }: XmlSettings): Router {
  /** Undefined: the client has gone. A body that is still arriving takes no place from others (P-12, P-13). */
  const answerTo = async (request: IncomingMessage, endpoint: Endpoint): Promise<Answer | undefined> => {
    if (request.method !== 'POST') return { trouble: 'wrong-method' }
    const body = await readBody(request, bodyBytesMax)
    if (body === 'aborted') return undefined
    if (body === 'too-large') return { trouble: 'too-large' }
    if ('parsed' in body) return { trouble: 'not-valid' }

    const leave = gate.tryEnter()
    if (leave === undefined) return overloaded
    const contentType = request.headers['content-type']
    return endpoint.run({ gateway, clock }, { body, contentType, network: clientNetwork(request) }).finally(leave)
  }
  return endpointRouter({
    log,
    metrics,
    service: 'xml',
    prefix,
    caseSensitive: false,
    endpoints,
    answer: async (request, response, endpoint) => {
      const answer = await answerTo(request, endpoint)
      if (answer !== undefined) sendAnswer(response, endpoint.inRoot, answer, confirmedResponses)
    },
    // Where more than reading was begun, nobody knows here whether a send has happened (ruling 1.25).
    answerFailure: (response, endpoint, _status, error) =>
      writeAnswer(response, endpoint.inRoot, hadNoEffect(error) ? overloaded : { trouble: 'unavailable' }),
  })
}

/** Answers whatever reaches it with 404 in plain text (ruling 3.8). */
export const xmlNotFound = ({ log, metrics }: Pick<XmlSettings, 'log' | 'metrics'>): RequestHandler =>
  fallbackHandler({ log, metrics, service: 'xml' }, (response) => writePlain(response, 404, 'Not found'))

/** An answer that is no document, since no operation is asked for. */
export function writePlain(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  endResponse(response, text)
}
