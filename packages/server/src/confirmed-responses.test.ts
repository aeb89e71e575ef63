import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { memoryLog } from '../testing/memory-log.ts'
import { until } from '../testing/until.ts'
import { confirmedResponses, type ConfirmedResponses } from './confirmed-responses.ts'
import { listen, type Running } from './listen.ts'
import type { Log } from './log.ts'

const MB = 1024 * 1024
let log: Log
let lines: () => Record<string, unknown>[]
let server: Running
let responses: ConfirmedResponses
let takenBack: string[]
let takeBack: (path: string) => Promise<void>

/** Called before each response. */
let beforeAnswer: () => void

/** The path is the number of bytes of the response. */
const app: RequestListener = (request, response) => {
  beforeAnswer()
  const path = request.url ?? ''
  responses.end(response, 'x'.repeat(Number(path.slice(1))), () => takeBack(path))
}

beforeEach(async () => {
  ;({ log, lines } = memoryLog())
  takenBack = []
  beforeAnswer = () => undefined
  takeBack = (path) => {
    takenBack.push(path)
    return Promise.resolve()
  }
  responses = confirmedResponses({ log, settleSeconds: 0.3 })
  server = await listen({ app, host: '127.0.0.1', port: 0, log: memoryLog().log, graceSeconds: 1 })
})
afterEach(() => server.close())

const open = (...paths: string[]): Promise<Socket> => openAt(server.port, ...paths)
const openAt = async (port: number, ...paths: string[]): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  return socket
}
/** Reads until `bytes` bytes have been read in total or no more data arrives, and then stops reading. */
const read = async (socket: Socket, bytes: number): Promise<number> => {
  if (socket.bytesRead < bytes && !socket.closed) {
    await new Promise<void>((resolve) => {
      const end = () => {
        socket.off('data', look).off('close', end).pause()
        resolve()
      }
      const look = () => {
        if (socket.bytesRead >= bytes) end()
      }
      socket.on('close', end).on('data', look)
      socket.resume()
    })
  }
  return socket.bytesRead
}
test.each([1, 20, 64, 1000, 8 * 1024, 12 * 1024])(
  'a response of %i kB that the client read completely is not taken back, even if the client resets at once',
  async (kilobytes) => {
    const bytes = kilobytes * 1024
    const socket = await open(`/${bytes}`)
    expect(await read(socket, bytes + 100)).toBeGreaterThan(bytes)
    socket.resetAndDestroy()
    await server.close()
    await responses.settle()
    expect(takenBack).toEqual([])
  },
)

test.each([0, 1, 100, 70_000, 3 * MB])(
  'a response of which the client read %i bytes before a reset is taken back once',
  async (bytes) => {
    const path = `/${16 * MB}`
    const socket = await open(path)
    await read(socket, bytes)
    socket.resetAndDestroy()
    await until(() => takenBack.length > 0)
    await server.close()
    await responses.settle()
    expect(takenBack).toEqual([path])
  },
)

test('on a server that starts pipelined requests at once, their responses are all taken back if none was sent', async () => {
  const foreign = createServer(app).listen(0, '127.0.0.1')
  await once(foreign, 'listening')
  const socket = await openAt((foreign.address() as AddressInfo).port, `/${16 * MB}`, '/10', '/11')
  await read(socket, 1000)
  socket.resetAndDestroy()
  await until(() => takenBack.length === 3)
  expect(new Set(takenBack)).toEqual(new Set([`/${16 * MB}`, '/10', '/11']))
  foreign.close()
})

test('of pipelined responses only the one that was cut off is taken back', async () => {
  const socket = await open('/10', '/11', `/${16 * MB}`)
  await read(socket, 1000)
  socket.resetAndDestroy()
  await until(() => takenBack.length > 0)
  await responses.settle()
  expect(takenBack).toEqual([`/${16 * MB}`])
})

test('a response that is ready after its client has disconnected is taken back', async () => {
  const sockets: Socket[] = []
  const gone = await listen({
    app: (request, response) => {
      for (const socket of sockets) socket.resetAndDestroy()
      request.socket.once('close', () => responses.end(response, 'x', () => takeBack('late')))
    },
    host: '127.0.0.1',
    port: 0,
    log: memoryLog().log,
  })
  const socket = connect(gone.port, '127.0.0.1').on('error', () => undefined)
  sockets.push(socket)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => takenBack.length === 1)
  await gone.close()
})

test.each([
  ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ['closed', (socket: Socket) => socket.destroy()],
])('a response is taken back if its client has %s the connection, even if that was not read yet', async (_, hangUp) => {
  const socket = connect(server.port, '127.0.0.1')
  beforeAnswer = () => void hangUp(socket)
  await once(socket, 'connect')
  socket.write('GET /1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => socket.destroyed)
  await server.close()
  await responses.settle()
  expect(takenBack).toEqual(['/1'])
})

test('a closing server waits for a response that is being read, and takes back responses that it breaks off at its deadline', async () => {
  const [patient, stuck] = [await open(`/${8 * MB}`), await open(`/${16 * MB}`)]
  await read(patient, 1000)
  await read(stuck, 1000)
  const closed = server.close()
  expect(await read(patient, 8 * MB + 100)).toBeGreaterThan(8 * MB)
  await closed
  await responses.settle()
  expect(takenBack).toEqual([`/${16 * MB}`])
  stuck.destroy()
})

test('taking back is retried until it succeeds, and settle waits for it', async () => {
  let tries = 0
  takeBack = () => (++tries < 3 ? Promise.reject(new Error('away')) : Promise.resolve())
  const socket = await open(`/${16 * MB}`)
  await read(socket, 1)
  socket.resetAndDestroy()
  await until(() => tries > 0)
  await responses.settle()
  expect(tries).toBe(3)
  expect(lines()).toEqual([])
})

test.each([
  ['rejects', () => Promise.reject(new Error('away'))],
  ['never ends', () => new Promise<void>(() => undefined)],
])('settle gives up on a takeBack that %s, and logs a warning', async (_, never) => {
  takeBack = never
  const socket = await open(`/${16 * MB}`)
  await read(socket, 1)
  socket.resetAndDestroy()
  await server.close()
  const begun = performance.now()
  await responses.settle()
  expect(performance.now() - begun).toBeLessThan(5000)
  expect(lines()).toMatchObject([{ level: 'warn', msg: 'the items of a lost response could not be offered again' }])
})

test('with clients that reset at any moment, no completely read response is taken back, and none twice', async () => {
  const size = 300_000
  const whole: string[] = []
  const paths = Array.from({ length: 100 }, (_, i) => `/${size + i}`)
  await Promise.all(
    paths.map(async (path, i) => {
      const socket = await open(path)
      const bytes = i % 3 === 0 ? size + i + 100 : ((i * 7919) % size) + 1
      await read(socket, bytes)
      if (socket.bytesRead >= size + i + 100) whole.push(path)
      socket.resetAndDestroy()
    }),
  )
  await server.close()
  await responses.settle()
  expect(takenBack.filter((path) => whole.includes(path))).toEqual([])
  expect(new Set(takenBack).size).toBe(takenBack.length)
  expect(whole.length).toBeGreaterThan(30)
})
