import type { RequestListener, ServerResponse } from 'node:http'
import { memoryLog } from '../testing/memory-log.ts'
import { rawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import { listen, type Running } from './listen.ts'

let server: Running
const started: string[] = []
const held: ServerResponse[] = []

const app: RequestListener = (request, response) => {
  started.push(request.url ?? '')
  if (request.url === '/held') held.push(response)
  else {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => response.end(`${request.url}${body};`))
  }
}

beforeEach(async () => {
  started.length = held.length = 0
  server = await listen({ app, host: '127.0.0.1', port: 0, log: memoryLog().log, graceSeconds: 0.2 })
})
afterEach(() => server.close())

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const answers = (received: string) => Array.from(received.matchAll(/(\/[a-z0-9]+);/g), ([, path]) => path)

test('a pipelined request is started when the answer before it has gone, and other connections do not wait', async () => {
  const client = rawClient(server.port, get('/held') + get('/b') + post('/c', '/body'))
  await until(() => held.length === 1)
  const other = rawClient(server.port, get('/other'))
  await until(() => other.received().endsWith('/other;'))
  expect(started).toEqual(['/held', '/other'])
  held[0]?.end('/a;')
  await until(() => client.received().endsWith('/body;'))
  expect(started).toEqual(['/held', '/other', '/b', '/c'])
  client.socket.destroy()
  other.socket.destroy()
})

test('thousands of pipelined requests are all answered, in their order', async () => {
  const paths = Array.from({ length: 3000 }, (_, i) => `/n${i}`)
  const client = rawClient(server.port, paths.map((path, i) => (i % 2 === 0 ? get(path) : post(path, ''))).join(''))
  await until(() => client.received().endsWith('/n2999;'))
  expect(answers(client.received())).toEqual(paths)
  client.socket.destroy()
})

test('of a connection that pipelines long headers little is read ahead, and all of it is answered', async () => {
  const padding = 'x'.repeat(60_000)
  const paths = Array.from({ length: 40 }, (_, i) => `/n${i}`)
  const long = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nX: ${padding}\r\n\r\n`
  const ahead: number[] = []
  const reading = await listen({
    app: ({ url = '', socket }, response) => {
      ahead.push(socket.bytesRead - (ahead.length + 1) * padding.length)
      // Meanwhile whatever has come could be read.
      setTimeout(() => response.end(`${url};`), 5)
    },
    host: '127.0.0.1',
    port: 0,
    log: memoryLog().log,
  })
  const client = rawClient(reading.port, paths.map(long).join(''))
  await until(() => client.received().endsWith('/n39;'))
  expect(answers(client.received())).toEqual(paths)
  expect(Math.max(...ahead)).toBeGreaterThan(padding.length)
  expect(Math.max(...ahead)).toBeLessThan(4 * 65_536)
  client.socket.destroy()
  await reading.close()
})

test('of a connection that pipelines bodies little is read ahead, even if it was resumed in the turn in which it is stopped', async () => {
  const paths = Array.from({ length: 60 }, (_, i) => `/n${i}`)
  const client = rawClient(server.port, get('/held') + paths.map((path) => post(path, 'x'.repeat(40_000))).join(''))
  await until(() => held.length === 1)
  const { socket } = held[0]?.req ?? {}
  if (socket === undefined) throw new Error('no request is held')
  const parser = Reflect.get(socket, 'parser') as { onIncoming: (...given: unknown[]) => unknown }
  const { onIncoming } = parser
  parser.onIncoming = (...given) => {
    socket.pause()
    socket.resume()
    return onIncoming(...given)
  }
  // Whatever has come is read within a few turns, if it is read at all.
  for (let turns = 0; turns < 500; turns++) await new Promise(setImmediate)
  expect(socket.bytesRead).toBeLessThan(5 * 65_536)

  held[0]?.end('/held;')
  await until(() => started.length === 61 && client.received().endsWith('x;'))
  expect(started.slice(1)).toEqual(paths)
  client.socket.destroy()
})

test('of a request that waited the body is read, also what comes of it later, and then what is behind it', async () => {
  const [begun, rest] = ['/body', '.of-it']
  const head = `POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: ${begun.length + rest.length}\r\n\r\n`
  const client = rawClient(server.port, get('/held') + get('/a') + head + begun)
  await until(() => held.length === 1)
  held[0]?.end('/held;')
  await until(() => started.includes('/p'))
  client.socket.write(rest + get('/held') + get('/b'))
  await until(() => held.length === 2)
  held[1]?.end('/held;')
  await until(() => client.received().endsWith('/b;'))
  expect(answers(client.received())).toEqual(['/held', '/a', '/held', '/b'])
  expect(client.received()).toContain('/p/body.of-it;')
  client.socket.destroy()
})

test('where thousands wait in all, a connection has eight of them answered and is closed then', async () => {
  const others = Array.from({ length: 20 }, () => rawClient(server.port, get('/held') + get('/o').repeat(1500)))
  await until(() => held.length === 20)
  const client = rawClient(server.port, get('/held') + get('/n').repeat(100))
  await until(() => held.length === 21)
  held.at(-1)?.end('/held;')
  await until(client.closed)
  expect(answers(client.received())).toEqual(['/held', ...Array<string>(8).fill('/n')])
  for (const other of others) other.socket.destroy()
})

test('of a connection that breaks, what waited is never started', async () => {
  const client = rawClient(server.port, get('/held') + get('/b'))
  await until(() => held.length === 1)
  client.socket.resetAndDestroy()
  await until(() => held[0]?.closed === true)
  const other = rawClient(server.port, get('/other'))
  await until(() => other.received().endsWith('/other;'))
  expect(started).toEqual(['/held', '/other'])
  other.socket.destroy()
})
