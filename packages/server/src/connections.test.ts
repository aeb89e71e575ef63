import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { memoryLog } from '../testing/memory-log.ts'
import { rawClient, type RawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import { listen, type Running } from './listen.ts'

describe('limits of connections', () => {
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

  test('a connection beyond the limit gets 503 with Retry-After and is closed without processing its request, until another one ends', async () => {
    await start({ connectionsMax: 4 })
    const [first] = [await connected(), await connected()]
    const refused = await connected()
    await until(refused.closed)
    expect(refused.received()).toMatch(/^HTTP\/1\.1 503 .*\r\n[^]*Retry-After: 1\r\n/)
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

  test('a connection with too many waiting requests counts as several, and is broken off if there is no room for that', async () => {
    const heldResponses: ServerResponse[] = []
    server = await listen({
      app: (request, response) => {
        if (request.url === '/held') heldResponses.push(response)
        else response.end('served')
      },
      host: '127.0.0.1',
      port: 0,
      log: memoryLog().log,
      graceSeconds: 0.2,
      limits: { connectionsPerNetworkMax: 40 },
    })
    const flooding = () => {
      const client = rawClient(server.port, 'GET /held HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20))
      clients.push(client)
      return client
    }
    for (let i = 0; i < 36; i++) await connected()
    const owed = flooding()
    await until(() => heldResponses.length === 1)
    // The network has 36 connections, and the connection with outstanding answers counts as three.
    expect((await connected()).received()).toContain('served')
    expect((await connected()).received()).toContain('503')
    clients[0]?.socket.destroy()
    clients[1]?.socket.destroy()
    let broken = flooding()
    await until(() => broken.closed())
    // New connections are refused until the server has noticed that two connections have ended.
    while (broken.received().includes('503')) {
      broken = flooding()
      await until(() => broken.closed())
    }
    expect(broken.received()).toBe('')
    expect(owed.closed()).toBe(false)
  })

  test('connections of a proxy do not count for a network', async () => {
    await start({ connectionsMax: 10, connectionsPerNetworkMax: 1, isProxy: (address) => address === '127.0.0.1' })
    await connected()
    expect((await connected()).received()).toContain('served')
    await connected('127.0.1.1')
    expect((await connected('127.0.1.2')).received()).toContain('503')
  })
})

describe('the requests of one connection', () => {
  let server: Running
  const started: string[] = []
  const heldResponses: ServerResponse[] = []

  const app: RequestListener = (request, response) => {
    started.push(request.url ?? '')
    if (request.url === '/held') heldResponses.push(response)
    else {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => response.end(`${request.url}${body};`))
    }
  }

  beforeEach(async () => {
    started.length = heldResponses.length = 0
    server = await listen({ app, host: '127.0.0.1', port: 0, log: memoryLog().log, graceSeconds: 0.2 })
  })
  afterEach(() => server.close())

  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
  const post = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const closings = (received: string) => Array.from(received.matchAll(/Connection: (\S+)/g), ([, word]) => word)
  const answers = (received: string) => Array.from(received.matchAll(/\r\n\r\n(\/[a-z0-9]+?)x?;/g), ([, path]) => path)

  test('a pipelined request is started when the previous answer has been sent, and other connections do not wait', async () => {
    const client = rawClient(server.port, get('/held') + get('/b') + post('/c', '/body'))
    await until(() => heldResponses.length === 1)
    const other = rawClient(server.port, get('/other'))
    await until(() => other.received().endsWith('/other;'))
    expect(started).toEqual(['/held', '/other'])
    heldResponses[0]?.end('/a;')
    await until(() => client.received().endsWith('/body;'))
    expect(started).toEqual(['/held', '/other', '/b', '/c'])
    client.socket.destroy()
    other.socket.destroy()
  })

  test('of a hundred requests in one write eight are processed, the next one is answered 503, and the connection is closed', async () => {
    const client = rawClient(server.port, Array.from({ length: 99 }, (_, i) => get(`/n${i}`)).join(''))
    await until(client.closed)
    expect(answers(client.received())).toEqual(started)
    expect(started).toEqual(Array.from({ length: 8 }, (_, i) => `/n${i}`))
    expect(closings(client.received())).toEqual([...Array<string>(8).fill('keep-alive'), 'close'])
    expect(client.received()).toMatch(/HTTP\/1\.1 503 .*\r\n[^]*Retry-After: 1\r\n[^]*wait on this connection$/)
  })

  test('of a hundred requests that arrive one by one the running and seven waiting ones are processed, and the connection is closed', async () => {
    const client = rawClient(server.port, get('/held'))
    await until(() => heldResponses.length === 1)
    const { socket } = heldResponses[0]?.req ?? {}
    for (let i = 0; i < 99; i++) {
      const before = socket?.bytesRead ?? 0
      client.socket.write(i % 2 === 0 ? get(`/n${i}`) : post(`/n${i}`, 'x'))
      if (i < 8) await until(() => (socket?.bytesRead ?? 0) > before)
    }
    heldResponses[0]?.end('/held;')
    await until(client.closed)
    expect(started).toEqual(['/held', ...Array.from({ length: 7 }, (_, i) => `/n${i}`)])
    expect(answers(client.received())).toEqual(started)
    expect(closings(client.received())).toEqual([...Array<string>(8).fill('keep-alive'), 'close'])
  })

  test('a client that writes without end gets its outstanding answers, and nothing more is read from it', async () => {
    const sockets: Socket[] = []
    const writes = await listen({
      app: ({ socket }, response) => {
        sockets.push(socket)
        setImmediate(() => response.end('answered;'))
      },
      host: '127.0.0.1',
      port: 0,
      log: memoryLog().log,
      graceSeconds: 0.2,
    })
    const client = rawClient(writes.port)
    const some = get('/n').repeat(1000)
    const write = () => {
      while (!client.closed() && client.socket.write(some));
      if (!client.closed()) client.socket.once('drain', write)
    }
    write()
    await until(client.closed)
    expect(client.received()).toContain('HTTP/1.1 503 ')
    expect(client.received().match(/answered;/g)).toHaveLength(8)
    expect(sockets).toHaveLength(8)
    // One read returns at most 64 kB, and Node may have started a second read.
    expect(sockets[0]?.bytesRead).toBeLessThanOrEqual(3 * 65_536)
    await writes.close()
  })

  test('requests behind those that may wait are dropped without an error for each', async () => {
    const sent: IncomingMessage[] = []
    const note = (message: unknown) => sent.push((message as { request: IncomingMessage }).request)
    subscribe('http.server.request.start', note)
    const client = rawClient(server.port, get('/n').repeat(200))
    await until(client.closed)
    await until(() => sent[0]?.socket.closed === true)
    unsubscribe('http.server.request.start', note)
    expect(sent).toHaveLength(200)
    expect(sent.slice(9).filter(({ destroyed }) => destroyed).length).toBe(0)
  })

  test('after a large read of a pipelining network, the next read of any of its connections is delayed accordingly', async () => {
    const begun: { readonly path: string; readonly at: number }[] = []
    const timed = await listen({
      app: ({ url = '' }, response) => {
        begun.push({ path: url, at: performance.now() })
        response.end('answered;')
      },
      host: '127.0.0.1',
      port: 0,
      log: memoryLog().log,
    })
    const pipelined = (path: string) => rawClient(timed.port, get(path).repeat(800))
    const firstOf = (path: string) => begun.find((each) => each.path === path)?.at ?? Infinity
    const first = pipelined('/a')
    await until(() => begun.length > 0)
    const next = [pipelined('/b'), pipelined('/c')]
    const other = rawClient(timed.port, get('/other'), '127.0.1.1')
    await Promise.all([first, ...next].map((client) => until(client.closed)))
    const [a, b, c] = ['/a', '/b', '/c'].map(firstOf).sort((one, another) => one - another)
    expect([Number(b) - Number(a), Number(c) - Number(b)].filter((gap) => gap < 49)).toEqual([])
    expect(firstOf('/other')).toBeLessThan(Number(c))
    other.socket.destroy()
    await timed.close()
  })

  test('a connection that pipelines long headers is closed after two more reads', async () => {
    const long = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(60_000)}\r\n\r\n`
    const client = rawClient(server.port, get('/held') + Array.from({ length: 40 }, (_, i) => long(`/n${i}`)).join(''))
    await until(() => heldResponses.length === 1)
    const { socket } = heldResponses[0]?.req ?? {}
    // Data that has arrived would be read within a few turns of the event loop.
    for (let turns = 0; turns < 500; turns++) await new Promise(setImmediate)
    expect(socket?.bytesRead).toBeLessThanOrEqual(4 * 65_536)
    heldResponses[0]?.end('/held;')
    await until(client.closed)
    expect(started.length).toBeLessThanOrEqual(4)
    expect(answers(client.received())).toEqual(started)
  })

  test('large waiting bodies are read when their turn comes, and all are answered', async () => {
    const paths = Array.from({ length: 40 }, (_, i) => `/n${i}`)
    const reading = await listen({
      app: (request, response) => {
        request.resume().on('end', () => setTimeout(() => response.end(`${request.url};`), 5))
      },
      host: '127.0.0.1',
      port: 0,
      log: memoryLog().log,
    })
    const client = rawClient(reading.port, paths.map((path) => post(path, 'x'.repeat(100_000))).join(''))
    await until(() => client.received().endsWith('/n39;'))
    expect(answers(client.received())).toEqual(paths)
    client.socket.destroy()
    await reading.close()
  })

  test('the body of a waiting request is read, including parts that arrive later, and then the data behind it', async () => {
    const [begun, rest] = ['/body', '.of-it']
    const head = `POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: ${begun.length + rest.length}\r\n\r\n`
    const client = rawClient(server.port, get('/held') + get('/a') + head + begun)
    await until(() => heldResponses.length === 1)
    heldResponses[0]?.end('/held;')
    await until(() => started.includes('/p'))
    client.socket.write(rest + get('/held') + get('/b'))
    await until(() => heldResponses.length === 2)
    heldResponses[1]?.end('/held;')
    await until(() => client.received().endsWith('/b;'))
    expect(answers(client.received())).toEqual(['/held', '/a', '/held', '/b'])
    expect(client.received()).toContain('/p/body.of-it;')
    client.socket.destroy()
  })

  test('requests behind an answer that ends the connection are never started', async () => {
    const client = rawClient(server.port, get('/held') + get('/b') + get('/c'))
    await until(() => heldResponses.length === 1)
    heldResponses[0]?.setHeader('Connection', 'close').end('/held;')
    await until(client.closed)
    const other = rawClient(server.port, get('/other'))
    await until(() => other.received().endsWith('/other;'))
    expect(started).toEqual(['/held', '/other'])
    other.socket.destroy()
  })

  test.each([
    ['no HTTP', 'no http\r\n\r\n'],
    ['another request, after one that ends the connection', get('/d')],
    ['a body that is malformed', 'POST /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ])('requests before %s get their own answers, and the connection is closed', async (_what, malformed) => {
    const last = malformed === get('/d') ? get('/b').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n') : get('/b')
    const client = rawClient(server.port, get('/held') + last + malformed)
    await until(() => heldResponses.length === 1)
    heldResponses[0]?.end('/held;')
    await until(client.closed)
    expect(started).toEqual(['/held', '/b'])
    expect(client.received().match(/\r\n\r\n.*;|HTTP\S+ \d+/g)).toEqual([
      'HTTP/1.1 200',
      '\r\n\r\n/held;',
      'HTTP/1.1 200',
      '\r\n\r\n/b;',
    ])
  })

  test('waiting requests of a broken connection are never started', async () => {
    const client = rawClient(server.port, get('/held') + get('/b'))
    await until(() => heldResponses.length === 1)
    client.socket.resetAndDestroy()
    await until(() => heldResponses[0]?.closed === true)
    const other = rawClient(server.port, get('/other'))
    await until(() => other.received().endsWith('/other;'))
    expect(started).toEqual(['/held', '/other'])
    other.socket.destroy()
  })
})
