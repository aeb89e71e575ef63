import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { ask, type Request } from './http.ts'

let server: Server
let answer: (socket: Socket) => void
let received = ''

beforeAll(async () => {
  server = createServer((socket) => {
    socket.setEncoding('latin1').on('data', (piece: string) => (received += piece))
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

const exchanged = async (wire: string, request: Request = { target: '/' }) => {
  received = ''
  answer = (socket) => void socket.end(wire, 'latin1')
  return ask(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`), request)
}

test.each([
  ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc', 'ab'],
  ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x\r\nbc\r\n0\r\n\r\n', 'abc'],
  ['the end of the connection', 'HTTP/1.0 200 OK\r\n\r\nabc', 'abc'],
  ['an interim answer before it', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na', 'a'],
])('a body that ends by %s is read', async (_, wire, body) => {
  expect(await exchanged(wire)).toMatchObject({ status: 200, text: body })
})

test('HEAD and 204 have no body, whatever their headers say', async () => {
  const head = await exchanged('HTTP/1.1 405 No\r\nContent-Length: 5\r\n\r\n', { target: '/', method: 'HEAD' })
  expect([head.status, head.text]).toEqual([405, ''])
  expect((await exchanged('HTTP/1.1 204 No\r\n\r\n')).text).toBe('')
})

test.each([
  ['is cut off', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab', /ended after/],
  ['is no HTTP', 'hello\r\n\r\n', /not a status line/],
  ['has a line that is no header', 'HTTP/1.1 200 OK\r\nx\r\n\r\n', /not a header/],
])('a response that %s is an error', async (_, wire, says) => {
  await expect(exchanged(wire)).rejects.toThrow(says)
})

test('a request is written byte for byte, below the path of the base URL', async () => {
  const headers = [
    ['hOsT', 'x'],
    ['A', '1'],
    ['A', '2'],
  ] as const
  const one = { method: 'pUt', target: '/a?b=\xe9', headers, body: 'é', as: { segments: 2 } }
  await exchanged('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', one)
  const written =
    'pUt /base/a?b=\xe9 HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\nhOsT: x\r\nA: 1\r\nA: 2\r\n\r\n\xc3\xa9'
  expect(written.startsWith(received)).toBe(true)
  await exchanged('HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', { target: '/', version: '1.0' })
  expect(received).toBe('GET /base/ HTTP/1.0\r\n\r\n')
  await exchanged('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', {
    method: 'POST',
    target: '/',
    body: 'abc',
    as: 'chunked',
  })
  expect(received).toContain('Transfer-Encoding: chunked\r\n\r\n')
})
