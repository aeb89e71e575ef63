import { memoryLog } from '../testing/memory-log.ts'
import { rawClient, type RawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import type { ConnectionLimits } from './limit-connections.ts'
import { listen, type Running } from './listen.ts'

let server: Running
let requests: number
const clients: RawClient[] = []

const start = async (limits: ConnectionLimits) => {
  requests = 0
  server = await listen({
    app: (_request, response) => {
      requests++
      response.end('served')
    },
    host: '127.0.0.1',
    port: 0,
    log: memoryLog().log,
    graceSeconds: 0.2,
    limits,
  })
}
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy()
  await server.close()
})

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const connected = async (from = '127.0.0.1') => {
  const client = rawClient(server.port, GET, from)
  clients.push(client)
  await until(() => client.received() !== '')
  return client
}

test('a connection too many is 503 with Retry-After and closed, its request is not worked on, and one that ends makes room', async () => {
  await start({ connectionsMax: 4 })
  const [first] = [await connected(), await connected()]
  const refused = await connected()
  await until(refused.closed)
  expect(refused.received()).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n/)
  expect(requests).toBe(2)
  first.socket.destroy()
  await until(() => first.closed())
  let again = await connected()
  while (!again.received().endsWith('served')) again = await connected()
})

test('one network never has more than half of all connections, and leaves room for another', async () => {
  await start({ connectionsMax: 4, connectionsPerNetworkMax: 100 })
  await connected()
  await connected()
  expect((await connected()).received()).toContain('503')
  expect((await connected('127.0.1.1')).received()).toContain('served')
})

test('connections of a proxy count for no network', async () => {
  await start({ connectionsMax: 10, connectionsPerNetworkMax: 1, isProxy: (address) => address === '127.0.0.1' })
  await connected()
  expect((await connected()).received()).toContain('served')
  await connected('127.0.1.1')
  expect((await connected('127.0.1.2')).received()).toContain('503')
})
