import { setTimeout } from 'node:timers/promises'
import express, { type Express } from 'express'
import supertest from 'supertest'
import { memoryLog } from '../testing/memory-log.ts'
import { rawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import { admissionGate } from './admission/admission-gate.ts'
import { confirmedResponses } from './confirmed-responses.ts'
import { endpointHandler, fallbackHandler } from './endpoint-handler.ts'
import { createServiceApp } from './express-app.ts'
import { listen, type ListenSettings, type Running } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { publicDocuments } from './public-documents.ts'
import { streamResponse } from './write-response.ts'

const memory = memoryLog('debug')
const { log } = memory
const running: Running[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()))
})

const endpoints = new Map(['whole', 'streamed', 'fails', 'busy', 'lost'].map((name) => [`/${name}`, name]))
const responses = confirmedResponses({ log, settleSeconds: 0.1 })

async function* parts() {
  yield 'one,'
  await setTimeout(1)
  yield 'two'
}

const handler = endpointHandler({
  log,
  service: 'demo',
  prefix: '/api',
  caseSensitive: true,
  endpoints,
  answer: async (request, response, endpoint) => {
    if (endpoint === 'fails') throw new Error('hard luck')
    if (endpoint === 'busy') response.statusCode = 503
    if (endpoint === 'lost') {
      request.socket.destroy()
      responses.end(response, 'gone', () => Promise.reject(new Error('no database')))
    } else if (endpoint === 'streamed') {
      await streamResponse(response, parts(), { gate: admissionGate(1), owner: '1' })
    } else response.end('whole')
  },
  answerFailure: (response, _endpoint, status) => {
    response.statusCode = status
    response.end('failed')
  },
})

const app = (): Express =>
  createServiceApp({
    log,
    service: 'demo',
    metrics: createMetrics(),
    health: { checks: { never: () => Promise.resolve(false) } },
    mounted: ['/api', handler],
    documents: publicDocuments(new Map([['/docs/a', { type: 'txt', read: () => 'a' }]]), admissionGate(1)),
    notFound: fallbackHandler({ log, service: 'demo' }, (response) => {
      response.statusCode = 404
      response.end()
    }),
    answerError: (_request, response, status) => void response.status(status).end(),
  })

const serve = async (settings: Partial<ListenSettings> = {}): Promise<Running> => {
  const server = await listen({ app: app(), host: '127.0.0.1', port: 0, log: memoryLog().log, ...settings })
  running.push(server)
  return server
}

const ofUs = /^[0-9a-f]{12}-[0-9]+$/

test.each([
  ['/api/whole', 200],
  ['/api/streamed', 200],
  ['/api/fails', 500],
  ['/api/busy', 503],
  ['/health/live', 200],
  ['/health/ready', 503],
  ['/metrics', 200],
  ['/docs/a', 200],
  ['/nothing', 404],
])('the answer of %s, %i, has the id of the client, or a unique one', async (path, status) => {
  const { url } = await serve()
  const own = await fetch(url + path, { headers: { 'X-Request-Id': 'order-7.A_b' } })
  expect([own.status, own.headers.get('x-request-id')]).toEqual([status, 'order-7.A_b'])
  const made = await Promise.all([1, 2, 3].map(async () => (await fetch(url + path)).headers.get('x-request-id')))
  expect(made).toEqual(made.map(() => expect.stringMatching(ofUs) as string))
  expect(new Set(made).size).toBe(3)
})

test.each([
  ['x', true],
  ['x'.repeat(128), true],
  ['-._Az09', true],
  ['x'.repeat(129), false],
  ['', false],
  ['a b', false],
  ['a,b', false],
  ['a\u00e9', false],
  ['<script>', false],
])('the id %j is accepted: %s', async (text, isTaken) => {
  const { port } = await serve()
  const client = rawClient(port)
  client.socket.write(
    `GET /api/whole HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: ${text}\r\n\r\n`,
    'latin1',
  )
  await until(client.closed)
  const [, id = ''] = /^X-Request-Id: (.*?)\r$/im.exec(client.received()) ?? []
  if (isTaken) expect(id).toBe(text)
  else expect(id).toMatch(ofUs)
})

test('two headers count as none', async () => {
  const { port } = await serve()
  const client = rawClient(port, 'GET /api/whole HTTP/1.0\r\nX-Request-Id: a\r\nX-Request-Id: b\r\n\r\n')
  await until(client.closed)
  expect(client.received()).toMatch(/^X-Request-Id: [0-9a-f]{12}-/im)
})

test('an id that an outer app has set stays, in the answer and in the log', async () => {
  const outer = express()
  outer.use((_request, response, next) => {
    response.setHeader('X-Request-Id', 'of the host')
    next()
  })
  outer.use('/api', handler)
  const { headers } = await supertest(outer).get('/api/fails').set('X-Request-Id', 'of-the-client').expect(500)
  expect(headers['x-request-id']).toBe('of the host')
  await until(() => memory.text().includes('"id":"of the host"'))
})

const head = (rest = '') => `GET /api/whole HTTP/1.1\r\n${rest}\r\n`
test.each([
  ['no HTTP', 400, 'hello\r\n\r\n'],
  ['a method that does not exist', 405, 'FOO /api/whole HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['overlong headers', 431, head(`Host: x\r\nX: ${'x'.repeat(70_000)}\r\n`)],
  ['an expectation that cannot be met', 417, head('Host: x\r\nExpect: x\r\n')],
  ['no Host', 400, head()],
])('a malformed request with %s is answered %i with an id', async (_what, status, bytes) => {
  const { port } = await serve()
  const client = rawClient(port, bytes)
  await until(client.closed)
  expect(client.received()).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*\r\nX-Request-Id: [0-9a-f]{12}-[0-9]+\r\n`))
})

test('a connection beyond the limit is answered with an id', async () => {
  const { port } = await serve({ limits: { connectionsMax: 1 } })
  const first = rawClient(port, 'GET / HTTP/1.1\r\n')
  const second = rawClient(port)
  await until(second.closed)
  expect(second.received()).toMatch(/^HTTP\/1.1 503 [^]*\r\nX-Request-Id: /)
  first.socket.destroy()
})

test('every log line that a request causes has its id', async () => {
  const { url } = await serve()
  for (const path of ['whole', 'fails', 'busy']) {
    const id = `log-${path}`
    await fetch(`${url}/api/${path}`, { headers: { 'X-Request-Id': id } })
    await until(() => memory.lines().some(({ request }) => (request as { id?: string } | undefined)?.id === id))
  }
  await fetch(`${url}/api/lost`, { headers: { 'X-Request-Id': 'log-lost' } }).catch(() => undefined)
  await responses.settle()
  expect(memory.lines().filter(({ msg }) => msg === 'the items of a lost response could not be offered again')).toEqual(
    [expect.objectContaining({ request: { id: 'log-lost', method: 'GET', path: '/api/lost' } })],
  )
})
