import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { deflateSync, gzipSync } from 'node:zlib'
import { until } from '@gateway/core/testing'
import type { HttpRequest } from '../requests/build-request.ts'
import { createTransport, type Transport, type TransportSettings } from './exchange.ts'

type Listener = (request: IncomingMessage, response: ServerResponse) => void

const servers: { close(): unknown; closeAllConnections?(): void }[] = []
const transports: Transport[] = []

afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()))
  for (const server of servers.splice(0)) {
    server.closeAllConnections?.()
    server.close()
  }
})

/** Starts a server that reads each request whole before `listener` answers. */
async function aServer(listener: Listener): Promise<{ origin: string; server: Server; requests: string[] }> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      requests.push(body)
      listener(request, response)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { origin: originOf(server), server, requests }
}

/** Starts a server of plain TCP. */
async function aTcpServer(connected: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    connected(socket)
  })
  servers.push({ close: () => server.close(), closeAllConnections: () => sockets.forEach((each) => each.destroy()) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

function aTransport(origin: string, settings: Partial<TransportSettings> = {}): Transport {
  const transport = createTransport({ origin, connections: 2, connectSeconds: 5, responseSeconds: 5, ...settings })
  transports.push(transport)
  return transport
}

const aRequest = (origin: string): HttpRequest => ({
  ...{
    method: 'POST',
    url: `${origin}/send?a=1`,
    headers: { 'content-type': 'application/json' },
    body: '{"text":"ü"}',
  },
})

const answerTo = async (listener: Listener, settings: Partial<TransportSettings> = {}) => {
  const { origin, requests } = await aServer(listener)
  return { exchange: await aTransport(origin, settings).exchange(aRequest(origin)), requests }
}

test.each<readonly [string, Listener]>([
  ['plain', (_, response) => response.end('{"id":"ü"}')],
  ['chunked', (_, response) => {
    response.write('{"id":')
    setImmediate(() => response.end('"ü"}'))
  }],
  ['gzip', (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"id":"ü"}'))],
  ['deflate', (_, response) => response.writeHead(200, { 'content-encoding': 'deflate' }).end(deflateSync('{"id":"ü"}'))],
])('an answer that is %s is read whole', async (_, listener) => {
  const { exchange, requests } = await answerTo(listener)
  expect(exchange).toMatchObject({ outcome: 'answered', answer: { status: 200, body: '{"id":"ü"}' } })
  expect(requests).toEqual(['{"text":"ü"}'])
}) // prettier-ignore

test('a status and headers are passed on as they are, and a redirect is not followed', async () => {
  const elsewhere = await aServer((_, response) => response.end())
  const { exchange } = await answerTo((_, response) =>
    response.writeHead(307, { location: `${elsewhere.origin}/`, 'retry-after': '3' }).end('moved'),
  )
  expect(exchange).toMatchObject({ answer: { status: 307, headers: { 'retry-after': '3' }, body: 'moved' } })
  expect(elsewhere.requests).toEqual([])
})

test('of an answer that is too large the first 256 kB are read', async () => {
  const { exchange } = await answerTo((_, response) => response.end('x'.repeat(1_000_000)))
  expect(exchange.outcome === 'answered' && exchange.answer.body.length).toBe(256 * 1024)
})

test.each<readonly [string, Listener, RegExp]>([
  ['that never comes', () => undefined, /no complete answer came within 0.2 s/],
  ['whose body never ends', (_, response) => response.writeHead(200, { 'content-length': '9' }).write('x'), /no complete answer/],
  ['that is cut off', (_, response) => response.writeHead(200, { 'content-length': '9' }).write('x', () => response.destroy()), /./],
  ['in place of which the connection is reset', (request) => request.socket.resetAndDestroy(), /ECONNRESET|closed/],
  ['that is not gzip', (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"id":1}'), /cannot be decompressed/],
  ['that decompresses to too much', (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(1_000_000))), /cannot be decompressed/],
])('an answer %s is unknown, and the request is sent once', async (_, listener, reason) => {
  const { exchange, requests } = await answerTo(listener, { responseSeconds: 0.2 })
  expect(exchange).toEqual({ outcome: 'unknown', reason: expect.stringMatching(reason) as string })
  expect(requests).toHaveLength(1)
}) // prettier-ignore

test('a provider that cannot be reached gets nothing: no server, no such name, no TLS', async () => {
  const { origin, server } = await aServer((_, response) => response.end())
  const isTls = await aTransport(origin.replace('http:', 'https:')).exchange(aRequest(origin.replace('http:', 'https:')))
  expect(isTls).toMatchObject({ outcome: 'unsent' })
  server.close()
  server.closeAllConnections()
  expect(await aTransport(origin).exchange(aRequest(origin))).toMatchObject({
    ...{ outcome: 'unsent', reason: expect.stringContaining('ECONNREFUSED') as string },
  })
  const nowhere = 'http://name.invalid'
  expect(await aTransport(nowhere).exchange(aRequest(nowhere))).toMatchObject({ outcome: 'unsent' })
}) // prettier-ignore

test('a connection that is not established in time has sent nothing', async () => {
  const port = await aTcpServer(() => undefined)
  const origin = `https://127.0.0.1:${port}`
  expect(await aTransport(origin, { connectSeconds: 0.2 }).exchange(aRequest(origin))).toMatchObject({
    outcome: 'unsent',
  })
})

test('a request with a header that HTTP does not allow is not sent', async () => {
  const { origin, requests } = await aServer((_, response) => response.end())
  const request = { ...aRequest(origin), headers: { authorization: 'a\r\nb: c' } }
  expect(await aTransport(origin).exchange(request)).toMatchObject({ outcome: 'unsent' })
  expect(requests).toEqual([])
})

test('a connection is used again, and after the server has reset it the next request uses a new one', async () => {
  const sockets = new Set<Socket>()
  const { origin, requests } = await aServer((request, response) => {
    sockets.add(request.socket)
    response.end('ok')
  })
  const transport = aTransport(origin, { connections: 1 })
  for (let at = 0; at < 3; at++) expect(await transport.exchange(aRequest(origin))).toMatchObject({ outcome: 'answered' })
  expect([sockets.size, transport.connections()]).toEqual([1, { open: 1, inUse: 0 }])
  for (const socket of sockets) socket.resetAndDestroy()
  await until(() => transport.connections().open === 0)
  expect(await transport.exchange(aRequest(origin))).toMatchObject({ outcome: 'answered' })
  expect([sockets.size, requests.length]).toEqual([2, 4])
}) // prettier-ignore

test('a request whose connection the server has just reset is sent once or not at all', async () => {
  const sockets = new Set<Socket>()
  const { origin, requests } = await aServer((request, response) => {
    sockets.add(request.socket)
    response.end('ok')
  })
  const transport = aTransport(origin, { connections: 1 })
  await transport.exchange(aRequest(origin))
  for (const socket of sockets) socket.resetAndDestroy()
  // This request starts in the same turn of the event loop as the reset, so the client has not noticed the reset yet.
  const { outcome } = await transport.exchange(aRequest(origin))
  expect([outcome, requests.length]).toEqual(outcome === 'answered' ? ['answered', 2] : ['unsent', 1])
})

test('closing ends a request that was sent as unknown', async () => {
  const { origin, requests } = await aServer(() => undefined)
  const transport = aTransport(origin, { connections: 1 })
  const exchange = transport.exchange(aRequest(origin))
  await until(() => requests.length === 1)
  await transport.close()
  expect(await exchange).toMatchObject({ outcome: 'unknown' })
})
