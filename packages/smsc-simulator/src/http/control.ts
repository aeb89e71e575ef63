import type { IncomingMessage } from 'node:http'
import { bodyOf, latestOf, serveJson, textOf, type JsonAnswer, type JsonServer } from '../json-server.ts'
import { lineOf } from './journal.ts'
import { HTTP_PERSONALITIES } from './personalities.ts'
import type { HttpArrival, HttpProviderServer } from './settings.ts'

type Controlled = Omit<HttpProviderServer, 'close' | 'controlPort'>

/**
 * Serves HTTP on 127.0.0.1: GET /status, /personalities and /journal, PUT /personality, POST /arrivals and
 * /reset-connections. Requests need no credentials.
 */
export const serveHttpControl = (provider: Controlled, port: number): Promise<JsonServer> =>
  serveJson(port, (request, url) => answer(provider, request, url))

async function answer(provider: Controlled, request: IncomingMessage, url: URL): Promise<JsonAnswer> {
  const { pathname, searchParams } = url
  switch (`${request.method ?? ''} ${pathname}`) {
    case 'GET /status':
      return [200, provider.status()]
    case 'GET /personalities':
      return [200, HTTP_PERSONALITIES]
    case 'GET /journal':
      return [200, provider.journal(latestOf(searchParams.get('latest'))).map(lineOf)]
    case 'PUT /personality': {
      const { name, ...changes } = await bodyOf(request)
      provider.become(textOf('name', name), changes)
      return [200, provider.status()]
    }
    case 'POST /arrivals':
      provider.inject(httpArrivalOf(await bodyOf(request)))
      return [202, { accepted: true }]
    case 'POST /reset-connections':
      await bodyOf(request)
      provider.resetConnections()
      return [200, provider.status()]
    default:
      return [
        404,
        {
          error:
            'Expected GET /status, /personalities, /journal; PUT /personality; POST /arrivals, /reset-connections.',
        },
      ]
  }
}

/** Validates the body of an arrival. Throws an Error that names the wrong field. */
export function httpArrivalOf(body: Readonly<Record<string, unknown>>): HttpArrival {
  for (const [field, value] of Object.entries(body)) {
    if (!['from', 'to', 'text'].includes(field)) throw new Error(`${field} cannot be ${JSON.stringify(value)}.`)
  }
  const [from, to, text] = ['from', 'to', 'text'].map((field) => textOf(field, body[field]))
  return { from: from ?? '', to: to ?? '', text: text ?? '' }
}
