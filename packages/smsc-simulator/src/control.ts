import type { IncomingMessage } from 'node:http'
import type { Arrival } from './arrivals.ts'
import { bodyOf, latestOf, serveJson, textOf, type JsonAnswer, type JsonServer } from './json-server.ts'
import { lineOf } from './journal.ts'
import { PERSONALITIES } from './personalities.ts'
import type { Smsc } from './settings.ts'

type Controlled = Omit<Smsc, 'close' | 'controlPort'>

/**
 * Serves HTTP on 127.0.0.1: GET /status, /personalities and /journal, PUT /personality, POST /arrivals and
 * /close-links. Requests need no credentials. Refuses requests that a browser could send on behalf of a page of another
 * origin.
 */
export const serveControl = (smsc: Controlled, port: number): Promise<JsonServer> =>
  serveJson(port, (request, url) => answer(smsc, request, url))

async function answer(smsc: Controlled, request: IncomingMessage, url: URL): Promise<JsonAnswer> {
  const { pathname, searchParams } = url
  switch (`${request.method ?? ''} ${pathname}`) {
    case 'GET /status':
      return [200, smsc.status()]
    case 'GET /personalities':
      return [200, PERSONALITIES]
    case 'GET /journal':
      return [200, smsc.journal(latestOf(searchParams.get('latest'))).map(lineOf)]
    case 'PUT /personality': {
      const { name, ...changes } = await bodyOf(request)
      smsc.become(textOf('name', name), changes)
      return [200, smsc.status()]
    }
    case 'POST /arrivals':
      return [202, { parts: smsc.inject(arrivalOf(await bodyOf(request))).parts }]
    case 'POST /close-links':
      await bodyOf(request)
      smsc.closeLinks()
      return [200, smsc.status()]
    default:
      return [
        404,
        { error: 'Expected GET /status, /personalities, /journal; PUT /personality; POST /arrivals, /close-links.' },
      ]
  }
}

const TEXTS = ['from', 'to', 'text', 'octets', 'parts', 'order', 'systemId']
const NUMBERS = ['dataCoding', 'esmClass', 'fromTon', 'fromNpi']
const CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  parts: ['udh8', 'udh16', 'sar', 'payload'],
  order: ['ascending', 'descending'],
}

/** Validates the body of an arrival. Throws an Error that names the wrong field. */
export function arrivalOf(body: Readonly<Record<string, unknown>>): Arrival {
  for (const [field, value] of Object.entries(body)) {
    const isOctet = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
    const isFitting = NUMBERS.includes(field) ? isOctet : TEXTS.includes(field) && typeof value === 'string'
    if (!isFitting || CHOICES[field]?.includes(value) === false)
      throw new Error(`${field} cannot be ${JSON.stringify(value)}.`)
  }
  return { ...body, from: textOf('from', body['from']), to: textOf('to', body['to']) }
}
