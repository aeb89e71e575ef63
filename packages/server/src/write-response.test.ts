import { get, type IncomingMessage } from 'node:http'
import { memoryLog } from '../testing/memory-log.ts'
import { rawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import { admissionGate, type AdmissionGate } from './admission/admission-gate.ts'
import { listen, type Running } from './listen.ts'
import { endResponse, streamResponse } from './write-response.ts'

describe('end response', () => {
  test.each(['1.0', '1.1'])('an HTTP/%s answer has its length in bytes, and no chunks', async (version) => {
    const app: Parameters<typeof listen>[0]['app'] = (_request, response) => endResponse(response, 'é€')
    const server = await listen({ app, host: '127.0.0.1', port: 0, log: memoryLog().log, graceSeconds: 0.2 })
    try {
      const client = rawClient(server.port, `GET / HTTP/${version}\r\nHost: x\r\nConnection: close\r\n\r\n`)
      await until(() => client.closed())
      expect(client.received()).toMatch(/\r\nContent-Length: 5\r\n/)
      expect(client.received()).not.toMatch(/Transfer-Encoding/i)
      expect(Buffer.from(client.received().split('\r\n\r\n')[1] ?? '', 'latin1').toString()).toBe('é€')
    } finally {
      await server.close()
    }
  })
})

describe('stream response', () => {
  interface Parts {
    /** Number of requested parts. */
    read: number
    ended: boolean
  }

  let parts: Parts
  let gate: AdmissionGate
  let outcomes: unknown[]
  const running: Running[] = []
  beforeEach(() => {
    parts = { read: 0, ended: false }
    gate = admissionGate(1)
    outcomes = []
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.close()))
  })

  const part = 'x'.repeat(1000)
  async function* all(count: number, fail?: Error): AsyncIterable<string> {
    try {
      while (parts.read < count) {
        await Promise.resolve()
        parts.read += 1
        yield part
      }
      if (fail !== undefined) throw fail
    } finally {
      parts.ended = true
    }
  }

  const serve = async (count: number, { fail, stalledSeconds }: { fail?: Error; stalledSeconds?: number } = {}) => {
    const server = await listen({
      app: (_request, response) => {
        streamResponse(response, all(count, fail), {
          gate,
          owner: 'a',
          ...(stalledSeconds && { stalledSeconds }),
        }).then(
          (outcome) => {
            outcomes.push(outcome)
            if (outcome === 'full') response.writeHead(503).end()
          },
          (error: unknown) => {
            outcomes.push(error)
            if (!response.headersSent) response.writeHead(500).end()
          },
        )
      },
      host: '127.0.0.1',
      port: 0,
      log: memoryLog().log,
      graceSeconds: 0.2,
    })
    running.push(server)
    return server
  }
  const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  const body = async ({ url }: Running) => {
    const answer = await fetch(url)
    return { length: (await answer.text()).length, headers: answer.headers }
  }

  test.each([0, 1, 16, 17, 5000])('all of %i parts arrive, in chunks and without a length', async (count) => {
    const { length, headers } = await body(await serve(count))
    expect(length).toBe(count * 1000)
    expect([headers.get('content-length'), headers.get('transfer-encoding')]).toEqual([null, 'chunked'])
    expect(outcomes).toEqual(['done'])
    expect(gate.inFlight).toBe(0)
  })

  test('a client that does not read stops the source and uses no place', async () => {
    const server = await serve(50_000)
    const client = rawClient(server.port, GET)
    client.socket.pause()
    let before = -1
    await until(() => {
      const stands = parts.read > 0 && parts.read === before && gate.inFlight === 0
      before = parts.read
      return stands
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(parts.read).toBeLessThan(25_000)
    // The slow client occupies no place, so another request can enter the only one.
    const leave = gate.tryEnter()
    expect(leave).toBeDefined()

    // The stream of the first request continues when its client reads again, although another request occupies the only
    // place.
    client.socket.resume()
    await until(() => outcomes.length === 1)
    expect([outcomes, parts.read, gate.inFlight]).toEqual([['done'], 50_000, 1])
    leave?.()
    client.socket.destroy()
  })

  test('a client that disconnects ends the source', async () => {
    const server = await serve(Infinity)
    const client = rawClient(server.port, GET)
    await until(() => client.received().length > 100_000)
    client.socket.destroy()
    await until(() => outcomes.length === 1)
    expect([outcomes, parts.ended, gate.inFlight]).toEqual([['done'], true, 0])
  })

  test('a client that reads nothing is disconnected after the limit, and the source ends', async () => {
    const server = await serve(Infinity, { stalledSeconds: 0.1 })
    const client = rawClient(server.port, GET)
    client.socket.pause()
    await until(() => outcomes.length === 1)
    expect([parts.ended, gate.inFlight]).toEqual([true, 0])
    client.socket.destroy()
  })

  test('a list waits for the previous response of its connection', async () => {
    gate = admissionGate(2)
    const server = await serve(8000)
    const client = rawClient(server.port, GET + GET)
    await until(() => outcomes.length === 2 && client.received().split('\r\n0\r\n\r\n').length === 3)
    expect(client.received().match(/HTTP\/1.1 200 OK/g)).toHaveLength(2)
    client.socket.destroy()
  })

  test('a full gate refuses the list, with nothing written and nothing read', async () => {
    const leave = gate.tryEnter()
    const server = await serve(10)
    expect((await fetch(server.url)).status).toBe(503)
    expect([outcomes, parts.read]).toEqual([['full'], 0])
    leave?.()
  })

  test('a failure before anything was written is answered by the caller', async () => {
    const fail = new Error('away')
    const server = await serve(5, { fail })
    expect((await fetch(server.url)).status).toBe(500)
    expect([outcomes, gate.inFlight]).toEqual([[fail], 0])
  })

  test.each(['1.0', '1.1'])('a failure in the middle resets the connection of HTTP/%s', async (version) => {
    const server = await serve(500, { fail: new Error('away') })
    const client = rawClient(server.port, `GET / HTTP/${version}\r\nHost: x\r\n\r\n`)
    const errors: string[] = []
    client.socket.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code ?? ''))
    await until(client.closed)
    expect(errors).toEqual(['ECONNRESET'])
    expect(client.received()).not.toContain('\r\n0\r\n\r\n')
    expect(outcomes).toEqual([new Error('away')])
  })

  test('the event loop runs other work while a long list is written to a fast client', async () => {
    const server = await serve(100_000)
    const long = await new Promise<IncomingMessage>((resolve) => get(server.url, resolve))
    long.resume()
    let turns = 0
    while (outcomes.length === 0) {
      await new Promise((resolve) => setImmediate(resolve))
      turns += 1
    }
    expect(turns).toBeGreaterThan(500)
  })
})
