import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { memoryLog } from '../testing/memory-log.ts'
import { rawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import type { DescribeMalformed } from './answer-malformed.ts'
import { createServiceApp } from './express-app.ts'
import { listen, type Running } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { endResponse } from './write-response.ts'

const running: Running[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()))
})

const serve = async (app: RequestListener, graceSeconds = 0.2) => {
  const memory = memoryLog()
  const server = await listen({ app, host: '127.0.0.1', port: 0, log: memory.log, graceSeconds })
  running.push(server)
  return { ...server, ...memory }
}

/** Returns an app that answers `/now` at once and holds all other responses until the test sends them. */
const holding = () => {
  const heldResponses: ServerResponse[] = []
  const app: RequestListener = (request, response) => {
    if (request.url?.startsWith('/now')) response.end('now')
    else heldResponses.push(response)
  }
  return { app, heldResponses }
}

/**
 * Code of a thread: writes a request to each of its connections, counts them, and reports the beginning of each
 * response.
 */
const writeToAll = `
  const { connect } = require('node:net')
  const { parentPort, workerData } = require('node:worker_threads')
  const { port, written, connections } = workerData
  const answerOf = () => new Promise((resolve) => {
    let received = ''
    const socket = connect(port, '127.0.0.1')
    socket.on('data', (data) => (received += data))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(received.split('\\r\\n')[0]))
    socket.write('GET /now HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n', () => {
      Atomics.add(written, 0, 1)
      Atomics.notify(written, 0)
    })
  })
  Promise.all(Array.from({ length: connections }, answerOf)).then((answers) => parentPort.postMessage(answers))
`

const GET = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`

test('it reports its URL', async () => {
  const { url, port, lines } = await serve(holding().app)
  expect(url).toBe(`http://127.0.0.1:${port}`)
  expect(await (await fetch(`${url}/now`)).text()).toBe('now')
  expect(lines()).toMatchObject([{ url, msg: 'listening' }])
})

test('the request line and headers may take 64 kB; beyond that the answer is 431, not a broken connection', async () => {
  const { port } = await serve(holding().app)
  const head = 'GET /now HTTP/1.1\r\nHost: x\r\nX: '
  const fits = rawClient(port, `${head}${'x'.repeat(65_536 - head.length - 4)}\r\n\r\n`)
  await until(() => fits.received().endsWith('now'))
  const line = rawClient(port, `GET /now?${'x'.repeat(65_000)} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await until(() => line.received().endsWith('now'))
  const over = rawClient(port, `${head}${'x'.repeat(500_000)}`)
  await until(() => over.received().startsWith('HTTP/1.1 431 '))
  await until(over.closed)
  fits.socket.destroy()
  line.socket.destroy()
})

test('a request may have 1000 header lines, and HTTP/1.0 needs no Host', async () => {
  const { port } = await serve((request, response) => response.end(String(request.headers['last'])))
  const most = rawClient(port, GET('/', `${'X: y\r\n'.repeat(998)}Last: seen\r\n`))
  await until(() => most.received().endsWith('seen'))
  const old = rawClient(port, 'GET / HTTP/1.0\r\nLast: seen\r\n\r\n')
  await until(() => old.received().endsWith('seen'))
  most.socket.destroy()
})

test.each([
  ['no HTTP', 'hello\r\n\r\n'],
  ['TLS', Buffer.from([22, 3, 1, 0, 1, 1]).toString('latin1')],
  ['no Host', 'GET /now HTTP/1.1\r\n\r\n'],
  ['a second Host', 'GET /now HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n'],
  ['two lengths', 'POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  ['a length beside chunks', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['a NUL in a header', 'GET /now HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n'],
])('%s is answered 400 without effect on other connections', async (_what, bytes) => {
  const { port, url } = await serve(holding().app)
  const client = rawClient(port, bytes)
  await until(() => client.received().startsWith('HTTP/1.1 400 '))
  await until(client.closed)
  expect((await fetch(`${url}/now`)).status).toBe(200)
})

test.each([
  ['no HTTP', 'hello\r\n\r\n', '400 Bad Request', 'The request cannot be read.'],
  ['no method of HTTP', 'FOO /now?a=b HTTP/1.1\r\nHost: x\r\n\r\n', '405 Method Not Allowed', 'FOO /now: This method'],
  [
    'a raw byte in its line',
    'GET /now?\xe9 HTTP/1.1\r\nHost: x\r\n\r\n',
    '400 Bad Request',
    'GET /now: The request line has bytes above 127; they must be percent-encoded.',
  ],
  ['an expectation', GET('/now', 'Connection: close\r\nExpect: x\r\n'), '417 Expectation Failed', 'GET /now: The only'],
  [
    'overlong headers',
    GET('/now', `X: ${'x'.repeat(70_000)}\r\n`),
    '431 Request Header',
    'have more than 65536 bytes.',
  ],
  [
    '3000 header lines',
    GET('/now', 'X: y\r\n'.repeat(3000)),
    '431 Request Header',
    'GET /now: The request has more than 1000 header lines.',
  ],
  ['two hosts', GET('/now', 'Host: y\r\n'), '400 Bad Request', 'GET /now: The request has more than one Host header.'],
  ['no host', 'GET /now HTTP/1.1\r\n\r\n', '400 Bad Request', 'GET /now: The request has no Host header.'],
])('a request with %s is answered in the configured form', async (_what, bytes, status, words) => {
  const describeMalformed: DescribeMalformed = ({ status, reason, method, path }) => ({
    status,
    contentType: 'text/plain',
    body: `${method} ${path}: ${reason}`,
  })
  const server = await listen({
    app: holding().app,
    host: '127.0.0.1',
    port: 0,
    log: memoryLog().log,
    describeMalformed,
  })
  running.push(server)
  const client = rawClient(server.port)
  client.socket.write(bytes, 'latin1')
  await until(client.closed)
  expect(client.received()).toMatch(new RegExp(`^HTTP/1.1 ${status}`))
  const [head = '', body = ''] = client.received().split('\r\n\r\n')
  expect(body).toContain(words)
  expect(head).toContain(`Content-Length: ${body.length}`)
})

describe('a body in chunks', () => {
  const sendChunks = async (chunks: readonly string[], app: RequestListener) => {
    const { port, url } = await serve(app)
    const head = 'POST /now HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
    const written = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    const client = rawClient(port, `${head}${written.join('')}0\r\n\r\n`)
    await until(client.closed)
    expect((await fetch(url, { method: 'POST', body: 'x'.repeat(100_000) })).status).toBe(200)
    return client.received()
  }
  const echoing: RequestListener = (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    // Delay reading, as if the request waited for a place.
    request.pause()
    setImmediate(() => setImmediate(() => request.resume()))
    request.on('end', () => response.end(Buffer.concat(pieces)))
  }

  test.each([
    ['200 of one byte', Array.from({ length: 200 }, (_, i) => String(i % 10))],
    ['5000 lines', Array.from({ length: 5000 }, (_, i) => `<Number>2782555${String(i).padStart(4, '0')}</Number>\n`)],
    ['large ones', ['a'.repeat(100_000), 'b', 'c'.repeat(100_000)]],
  ])('arrives as it was sent: %s', async (_what, chunks) => {
    expect((await sendChunks(chunks, echoing)).replaceAll(/\r\n[\da-f]+\r\n/g, '')).toContain(
      chunks.slice(0, 100).join(''),
    )
  })

  test('waits in one block, however small the chunks were', async () => {
    const pieces: number[] = []
    await sendChunks(Array<string>(200).fill('x'), (request, response) => {
      request.on('end', () => response.end())
      if (request.headers['transfer-encoding'] === undefined) request.resume()
      else setImmediate(() => request.on('data', (piece: Buffer) => pieces.push(piece.length)))
    })
    expect(pieces).toEqual([200])
  })

  test('of thousands of chunks of one byte is refused, and its connection is closed', async () => {
    const received = await sendChunks(Array<string>(100_000).fill('x'), echoing)
    expect(received).toMatch(/^HTTP\/1.1 400 [^]*The body comes in too many small chunks\.$/)
  })

  test('of one-byte chunks does not delay others of its network: no turn of the event loop reads two of them', async () => {
    let requests = 0
    let all = 0
    let mostOfATurn = 0
    const { port, url } = await serve((request, response) => {
      if (request.method === 'GET') response.end('served')
      else requests++
    })
    const clients = Array.from({ length: 8 }, () => rawClient(port))
    await until(() => clients.every(({ socket }) => !socket.connecting))
    expect((await fetch(url)).status).toBe(200)
    let isCounting = true
    const count = () => {
      all += requests
      mostOfATurn = Math.max(mostOfATurn, requests)
      requests = 0
      if (isCounting) setImmediate(count)
    }
    count()
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    for (const { socket } of clients) socket.write(head + '1\r\nx\r\n'.repeat(1000))
    const other = fetch(url)
    await until(() => all === 8)
    isCounting = false
    expect(mostOfATurn).toBeLessThanOrEqual(2)
    expect((await other).status).toBe(200)
    for (const { socket } of clients) socket.destroy()
  })

  test('of one-byte chunks is refused at most twenty times a second, and nothing more is read meanwhile', async () => {
    const sockets: Socket[] = []
    const { port } = await serve((request, response) => {
      sockets.push(request.socket)
      if (sockets.length % 2 === 0) endResponse(response, 'no')
    })
    const begun = performance.now()
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    const clients = Array.from({ length: 10 }, () => rawClient(port, head + '1\r\nx\r\n'.repeat(100_000)))
    await until(() => clients.every(({ closed }) => closed()))
    expect(performance.now() - begun).toBeGreaterThan(9 * 49)
    expect(Math.max(...sockets.map(({ bytesRead }) => bytesRead))).toBeLessThanOrEqual(2 * 65_536)
  })
})

describe('a client that closes after its request and is answered before all of it has arrived', () => {
  const head = 'POST /now HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4000000\r\n\r\n'

  test('reads the answer, although it writes the rest first', async () => {
    const ended: boolean[] = []
    const { port } = await serve((_, response) => {
      response.once('finish', () => ended.push(true))
      endResponse(response, 'now')
    })
    const client = rawClient(port, head)
    client.socket.pause()
    await until(() => client.socket.readableLength > 0)
    const problems: Error[] = []
    client.socket.on('error', (problem) => problems.push(problem))
    // Write more than the buffers of both sides can hold, so that the write ends only if the server reads the data.
    await new Promise((resolve) => client.socket.write(Buffer.alloc(4_000_000), resolve))
    client.socket.resume()
    await until(client.closed)
    expect(problems).toEqual([])
    expect(client.received()).toMatch(/^HTTP\/1\.1 200 [^]*now$/)
    expect(ended).toEqual([true])
  })

  test('is waited for 1 s at most', async () => {
    const sockets: Socket[] = []
    const { port } = await serve((request, response) => {
      sockets.push(request.socket)
      endResponse(response, 'now')
    })
    // With `allowHalfOpen` the client does not close its side when the server closes.
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    client.write(head)
    await new Promise((resolve) => client.once('data', resolve))
    const answered = performance.now()
    await until(() => sockets[0]?.destroyed === true, 10_000)
    expect(performance.now() - answered).toBeGreaterThan(500)
    client.destroy()
  })
})

test('CONNECT, an upgrade and a reset do not stop the server', async () => {
  const { port, url } = await serve(holding().app)
  const clients = [
    rawClient(port, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'),
    rawClient(port, GET('/now', 'Connection: Upgrade\r\nUpgrade: websocket\r\n')),
    rawClient(port, 'GET /n'),
  ]
  await until(() => clients[1]?.received().includes('now') === true)
  clients[2]?.socket.resetAndDestroy()
  await until(() => clients[0]?.closed() === true)
  expect((await fetch(`${url}/now`)).status).toBe(200)
  clients[1]?.socket.destroy()
})

test('malformed bytes behind a running request never cause a second answer within its answer', async () => {
  const { app, heldResponses } = holding()
  const { port } = await serve(app)
  const client = rawClient(port, GET('/held'))
  await until(() => heldResponses.length === 1)
  heldResponses[0]?.write('first half')
  await until(() => client.received().includes('first half'))
  client.socket.write('no http\r\n\r\n')
  await until(client.closed)
  expect(client.received()).not.toContain('400')
})

test('a request is notified when its connection breaks, and requests behind it are not started', async () => {
  const closed: string[] = []
  const { port } = await serve((request, response) => response.on('close', () => closed.push(request.url ?? '')))
  const client = rawClient(port, GET('/1') + GET('/2') + GET('/3'))
  const arrived = new Promise<void>((resolve) => client.socket.once('connect', resolve))
  await arrived
  client.socket.end()
  client.socket.destroy()
  await until(() => closed.length > 0)
  const other = rawClient(port, GET('/other'))
  other.socket.end()
  await until(() => closed.includes('/other'))
  expect(closed).toEqual(['/1', '/other'])
})

describe('close', () => {
  test('finishes a running request, tells its client to close, and accepts no new connection', async () => {
    const { app, heldResponses } = holding()
    const { port, close } = await serve(app, 20)
    const client = rawClient(port, GET('/held'))
    await until(() => heldResponses.length === 1)
    const closing = close()
    let late
    do {
      late = rawClient(port, GET('/now'))
      await until(late.closed)
    } while (late.received() !== '')
    heldResponses[0]?.end('done')
    await closing
    await until(client.closed)
    expect(client.received()).toContain('Connection: close')
    expect(client.received()).toContain('done')
  })

  test.each([
    ['though it had no turn to read them', 0],
    ['however long its turns take', 10],
  ])('answers the requests that had arrived at the machine before, %s', async (_, turnMs) => {
    const written = new Int32Array(new SharedArrayBuffer(4))
    const { port, close } = await serve((_request, response) => {
      Atomics.wait(written, 0, 100, turnMs)
      response.end('now')
    }, 20)
    const clients = new Worker(writeToAll, { eval: true, workerData: { port, written, connections: 100 } })
    const answers = once(clients, 'message')
    // The event loop is blocked until all connections are open and their requests are written.
    while (written[0] !== 100) Atomics.wait(written, 0, written[0] ?? 0, 20_000)
    await close()
    expect(await answers).toEqual([Array(100).fill('HTTP/1.1 200 OK')])
    await clients.terminate()
  })

  test('closes idle connections, those that never sent anything, and those that become idle, without waiting', async () => {
    const { app, heldResponses } = holding()
    const { port, close } = await serve(app, 20)
    const idle = rawClient(port, GET('/now'))
    const silent = rawClient(port)
    const streaming = rawClient(port, GET('/held'))
    await until(() => idle.received().includes('now') && heldResponses.length === 1 && !silent.socket.connecting)
    heldResponses[0]?.write('begun')
    const start = performance.now()
    const closing = close()
    await until(() => idle.closed() && silent.closed())
    heldResponses[0]?.end()
    await closing
    await until(streaming.closed)
    expect(performance.now() - start).toBeLessThan(10_000)
  })

  test('does not wait for requests with too many small chunks, which are answered one after the other', async () => {
    let [refused, requests, mostOfATurn] = [0, 0, 0]
    const app: RequestListener = (request) => {
      requests++
      request.resume()
    }
    const describe: DescribeMalformed = ({ reason }) => {
      refused++
      return { status: 400, contentType: 'text/plain', body: reason }
    }
    const { log } = memoryLog()
    const settings = { app, host: '127.0.0.1', port: 0, log, graceSeconds: 60, describeMalformed: describe }
    const server = await listen(settings)
    running.push(server)
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    const clients = Array.from({ length: 200 }, () => rawClient(server.port, head + '1\r\nx\r\n'.repeat(1000)))
    await until(() => refused > 0)
    const begun = performance.now()
    let isClosed = false
    const count = () => {
      mostOfATurn = Math.max(mostOfATurn, requests)
      requests = 0
      if (!isClosed) setImmediate(count)
    }
    setImmediate(count)
    requests = 0
    await server.close()
    isClosed = true
    await until(() => clients.every(({ closed }) => closed()))
    expect(performance.now() - begun).toBeLessThan(5000)
    expect(mostOfATurn).toBeLessThanOrEqual(2)
  })

  test('breaks off unfinished requests at its deadline', async () => {
    const { app, heldResponses } = holding()
    const { port, close, lines } = await serve(app, 0.1)
    const client = rawClient(port, GET('/held'))
    const halfway = rawClient(port, 'GET /now HTTP/1.1\r\nHo')
    await until(() => heldResponses.length === 1 && halfway.socket.bytesWritten > 0)
    await close()
    await until(() => client.closed() && halfway.closed())
    expect(lines().at(-1)).toMatchObject({ level: 'warn', requests: 1 })
  })

  test('does not cut off a finished answer of which most has not been read', async () => {
    const { port, close } = await serve((_request, response) => response.end('x'.repeat(16_000_000)), 5)
    const client = rawClient(port, GET('/'))
    client.socket.pause()
    const other = rawClient(port, GET('/'))
    await until(() => client.socket.readableLength > 0 && other.received().length > 1000)
    const closing = close()
    await until(() => other.received().length > 16_000_000)
    client.socket.resume()
    await closing
    // The socket buffers may still contain data that the server has written, so wait for the end.
    await until(client.closed)
    expect(client.received().length).toBeGreaterThan(16_000_000)
  })

  test('may be called twice', async () => {
    const { port, close } = await serve(holding().app)
    await Promise.all([close(), close()])
    await close()
    await expect(fetch(`http://127.0.0.1:${port}/now`)).rejects.toThrow('fetch failed')
  })
})

describe('if it cannot listen, one error names the address and says what to do', () => {
  const { log } = memoryLog()
  const app = holding().app

  test('a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    await expect(listen({ app, host: '127.0.0.1', port, log })).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: another process uses this port. Stop it, or set PORT to a free one`,
    )
    await new Promise((resolve) => other.close(resolve))
  })

  test('an address of another machine', async () => {
    await expect(listen({ app, host: '192.0.2.1', port: 0, log })).rejects.toThrow(
      'Cannot listen on 192.0.2.1:0: this machine has no such address. Set HOST',
    )
  })
})

test('with a port for operators, health and metrics are only there, and nothing else is', async () => {
  const app = createServiceApp({
    log: memoryLog().log,
    service: 'test',
    metrics: createMetrics(),
    health: { checks: {} },
    notFound: (_request, response) => void response.status(404).send('not found'),
    answerError: (_request, response) => void response.end(),
  })
  const [probe] = [createServer().listen(0, '127.0.0.1')]
  await once(probe, 'listening')
  const adminPort = (probe.address() as AddressInfo).port
  await new Promise((resolve) => probe.close(resolve))
  const server = await listen({ app, host: '127.0.0.1', port: 0, adminPort, log: memoryLog().log, graceSeconds: 0.2 })
  running.push(server)
  const ask = async (base: string, path: string) => (await fetch(base + path)).status
  const paths = ['/health/live', '/health/ready?x', '/metrics', '/other']
  const of = (base: string) => Promise.all(paths.map((path) => ask(base, path)))
  expect(await of(server.url)).toEqual([404, 404, 404, 404])
  // These targets are other spellings that an app reads as the same paths.
  for (const target of ['http://x/metrics', 'http://x/health/ready', '/metrics#', '/health/live#x']) {
    const client = rawClient(server.port, GET(target))
    await until(() => client.received() !== '')
    expect([target, client.received().slice(0, 12)]).toEqual([target, 'HTTP/1.1 404'])
    client.socket.destroy()
  }
  expect(await of(`http://127.0.0.1:${adminPort}`)).toEqual([200, 200, 200, 404])
  await server.close()
  await expect(ask(`http://127.0.0.1:${adminPort}`, '/health/live')).rejects.toThrow()
})
