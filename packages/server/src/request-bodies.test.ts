import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { rawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import { bodyMemory, type BodyMemory } from './admission/body-memory.ts'
import { ByteCollector, readBody } from './request-bodies.ts'

describe('byte collector', () => {
  test('added bytes are returned in order, and later ones begin a new block', () => {
    const lists = fc.array(fc.array(fc.uint8Array({ maxLength: 20 })))
    fc.assert(
      fc.property(lists, (rounds) => {
        const collector = new ByteCollector()
        for (const round of rounds) {
          const pieces = round.map((bytes) => Buffer.from(bytes))
          for (const piece of pieces) collector.add(piece)
          const all = Buffer.concat(pieces)
          expect(collector.length).toBe(all.length)
          expect(collector.take()).toEqual(all)
        }
      }),
    )
  })

  test('a single piece is returned without a copy, and nothing is written behind it', () => {
    const collector = new ByteCollector()
    const piece = Buffer.from('abcdef').subarray(0, 3)
    collector.add(piece)
    collector.add(Buffer.from('x'))
    expect(collector.take().toString()).toBe('abcx')
    expect(Buffer.from(piece.buffer, piece.byteOffset, 6).toString()).toBe('abcdef')
    collector.add(piece)
    expect(collector.take().buffer).toBe(piece.buffer)
  })

  test('100 000 pieces of one byte need one block of twice their bytes', () => {
    const collector = new ByteCollector()
    for (let i = 0; i < 100_000; i++) collector.add(Buffer.from('x'))
    expect(collector.take().buffer.byteLength).toBeLessThanOrEqual(200_000 + 8192)
  })
})

describe('read body', () => {
  const results: (string | Buffer)[] = []
  let server: Server
  let port: number
  let memory: BodyMemory

  beforeAll(async () => {
    server = createServer((request, response) => {
      const place = memory.open('a')
      void readBody(request, 100, place).then((body) => {
        place.release()
        if (typeof body === 'object' && 'parsed' in body) throw new Error('nobody has parsed it')
        results.push(body)
        response.statusCode = body === 'too-large' ? 413 : 200
        response.end(typeof body === 'string' ? body : `${body.length} bytes`)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  beforeEach(() => {
    results.length = 0
    memory = bodyMemory(1_000_000)
  })

  const post = (headers: string, body = '') => `POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

  test.each([
    ['nothing', 'Content-Length: 0', '', '0 bytes'],
    ['exactly as many bytes as may pass', 'Content-Length: 100', 'x'.repeat(100), '100 bytes'],
    ['one byte more, announced', 'Content-Length: 101', 'x'.repeat(101), 'too-large'],
    [
      'exact chunks',
      'Transfer-Encoding: chunked',
      chunk('x'.repeat(60)) + chunk('y'.repeat(40)) + chunk(''),
      '100 bytes',
    ],
    ['chunks, one byte more', 'Transfer-Encoding: chunked', chunk('x'.repeat(60)) + chunk('y'.repeat(41)), 'too-large'],
  ])('%s', async (_what, headers, body, answer) => {
    const client = rawClient(port, post(headers, body))
    await until(() => client.received().includes(answer))
    client.socket.destroy()
  })

  test('a body is returned as sent: compressed stays compressed', async () => {
    const client = rawClient(port, post('Content-Encoding: gzip\r\nContent-Length: 3', 'abc'))
    await until(() => results.length === 1)
    expect(results[0]).toEqual(Buffer.from('abc'))
    client.socket.destroy()
  })

  test('too-large is resolved before the rest arrives, the rest is discarded, and the connection stays usable', async () => {
    const bytes = 5_000_000
    const client = rawClient(port, post(`Content-Length: ${bytes}`, 'x'.repeat(1000)))
    await until(() => client.received().includes('413'))
    client.socket.write('x'.repeat(bytes - 1000) + post('Content-Length: 2', 'hi'))
    await until(() => client.received().includes('2 bytes'))
    client.socket.destroy()
  })

  test('a client that disconnects within its body is aborted', async () => {
    const client = rawClient(port, post('Content-Length: 50', 'x'))
    const arrived = new Promise((resolve) => server.once('request', resolve))
    await arrived
    client.socket.destroy()
    await until(() => results.length === 1)
    expect(results).toEqual(['aborted'])
  })

  test('a malformed chunk is aborted', async () => {
    const client = rawClient(port, post('Transfer-Encoding: chunked', 'zz\r\n'))
    await until(() => results.length === 1)
    expect(results).toEqual(['aborted'])
    await until(client.closed)
  })
})
