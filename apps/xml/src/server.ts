import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Clock, Gateway } from '@gateway/core'
import {
  clientNetwork,
  nameEndpoint,
  readBody,
  servePaths,
  type AdmissionGate,
  type HandOvers,
  type Log,
  type Metrics,
} from '@gateway/server'
import type { RequestHandler } from 'express'
import { giveAnswer, overloaded, writeAnswer, type Answer } from './answer.ts'
import type { Endpoint } from './endpoint.ts'
import { endpoints, isXmlPath } from './routes.ts'

export interface XmlSettings {
  readonly clock: Clock
  /** How much this process works on at a time; several interfaces in one process may share one. */
  readonly gate: AdmissionGate
  /** Must be settled after the server has closed; several interfaces in one process may share them. */
  readonly handOvers: HandOvers
  readonly log: Log
  readonly metrics?: Metrics
  /** What the process answers beside the interface (health, metrics), on paths that `isXmlPath` does not claim. */
  readonly beside?: readonly RequestHandler[]
}

/** A legal send is 2.9 MB (ruling 4.1). */
const bodyBytesMax = 4 * 1024 * 1024

/** The XML interface (spec 4.3). On any other path 404 in plain text (ruling 3.8). */
export function createXmlServer(gateway: Gateway, settings: XmlSettings): RequestListener {
  const { clock, gate, handOvers, log, metrics, beside = [] } = settings

  /** Undefined: the client has gone. A body that is still arriving takes no place from others (P-12, P-13). */
  const answerTo = async (request: IncomingMessage, endpoint: Endpoint): Promise<Answer | undefined> => {
    if (request.method !== 'POST') return { trouble: 'wrong-method' }
    const body = await readBody(request, bodyBytesMax)
    if (body === 'aborted') return undefined
    if (body === 'too-large') return { trouble: 'too-large' }

    const leave = gate.tryEnter()
    if (leave === undefined) return overloaded
    const contentType = request.headers['content-type']
    return endpoint.run({ gateway, clock }, { body, contentType, network: clientNetwork(request) }).finally(leave)
  }

  return servePaths({
    log,
    metrics,
    service: 'xml',
    isOurs: isXmlPath,
    answer: async (request, response, path) => {
      const found = endpointAt(path)
      if (found === undefined) {
        writePlain(response, 404, 'Not found')
        return
      }
      nameEndpoint(response, found.path)
      const answer = await answerTo(request, found.endpoint)
      if (answer !== undefined) giveAnswer(response, found.endpoint.inRoot, answer, handOvers)
    },
    answerFailure: writeUnavailable,
    beside,
  })
}

/** Without `Retry-After`: nobody knows here whether a send has happened (ruling 1.25). */
function writeUnavailable(response: ServerResponse, path: string): void {
  const found = endpointAt(path)
  if (found === undefined) writePlain(response, 503, 'Service unavailable')
  else writeAnswer(response, found.endpoint.inRoot, { trouble: 'unavailable' })
}

function endpointAt(given: string) {
  const path = given.toLowerCase()
  const endpoint = endpoints.get(path)
  return endpoint && { path, endpoint }
}

function writePlain(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.end(text)
}
