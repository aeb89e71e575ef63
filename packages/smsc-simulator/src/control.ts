import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Arrival } from './arrivals.ts'
import { lineOf } from './journal.ts'
import { PERSONALITIES } from './personalities.ts'
import type { Smsc } from './settings.ts'

export interface Control {
  readonly port: number
  close(): Promise<void>
}

type Controlled = Omit<Smsc, 'close' | 'controlPort'>
type Answer = readonly [status: number, body: unknown]

const bodyMax = 1 << 20

/**
 * Serves HTTP on 127.0.0.1: GET /status, /personalities and /journal, PUT /personality, POST /arrivals and
 * /close-links. Requests need no credentials. Refuses requests that a browser could send on behalf of a page of another
 * origin.
 */
export async function serveControl(smsc: Controlled, port: number): Promise<Control> {
  const server = createServer((request, response) => void serve(smsc, request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function serve(smsc: Controlled, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [status, body] = await answer(smsc, request).catch((error: unknown): Answer => [
    400,
    { error: messageOf(error) },
  ])
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(`${JSON.stringify(body)}\n`)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function answer(smsc: Controlled, request: IncomingMessage): Promise<Answer> {
  if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(request.headers.host ?? '')) return [403, { error: 'wrong host' }]
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
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

const latestOf = (text: string | null): number => Math.min(100_000, Math.max(1, Number(text ?? 100) || 100))

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) throw new Error('Send application/json.')
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bodyMax) throw new Error('The body is too long.')
    chunks.push(chunk)
  }
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('The request body must be a JSON object.')
  return value as Record<string, unknown>
}

function textOf(field: string, value: unknown): string {
  if (typeof value !== 'string') throw new Error(`${field} must be a text.`)
  return value
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
