import { killLeftovers } from '../support/process.ts'
import { deploy, layouts, type Deployment } from './deployment.ts'
import { inTurn } from '../support/in-turn.ts'
import { raw } from './raw.ts'

// Tests bytes that a proxy may read as one request and the server as two, or the other way round.
const head = 'POST /api/auth.asp HTTP/1.1\r\nHost: x\r\n'
const chunked = 'Transfer-Encoding: chunked\r\n'
const end = '0\r\n\r\n'

/**
 * Ambiguous heads. Each is followed by another request, which must not be answered. `length` is the length of that
 * other request.
 */
const ambiguous: Readonly<Record<string, (length: number) => string>> = {
  'a length before chunks': () => `${head}Content-Length: 5\r\n${chunked}\r\n${end}`,
  'a length after chunks': () => `${head}${chunked}Content-Length: 5\r\n\r\n${end}`,
  'an unknown transfer encoding': () => `${head}Transfer-Encoding: identity\r\n\r\n`,
  'a transfer encoding that only looks like chunked': () => `${head}Transfer-Encoding: xchunked\r\n\r\n${end}`,
  'chunked that is not last': () => `${head}Transfer-Encoding: chunked, identity\r\n\r\n${end}`,
  'two transfer encodings': () => `${head}${chunked}Transfer-Encoding: identity\r\n\r\n${end}`,
  'a space before the colon': (n) => `${head}Transfer-Encoding : chunked\r\nContent-Length: ${n + 5}\r\n\r\n${end}`,
  'a vertical tab before chunked': (n) =>
    `${head}Transfer-Encoding:\x0bchunked\r\nContent-Length: ${n + 5}\r\n\r\n${end}`,
  'chunks of HTTP/1.0': (n) =>
    `${head.replace('1.1', '1.0')}Connection: keep-alive\r\n${chunked}Content-Length: ${n + 5}\r\n\r\n${end}`,
  'two lengths': (n) => `${head}Content-Length: 0\r\nContent-Length: ${n}\r\n\r\n`,
  'the same length twice': (n) => `${head}Content-Length: ${n}\r\nContent-Length: ${n}\r\n\r\n`,
  'a list of lengths': (n) => `${head}Content-Length: 0, ${n}\r\n\r\n`,
  'a length with a sign': (n) => `${head}Content-Length: +${n}\r\n\r\n`,
  'a negative length': (n) => `${head}Content-Length: -${n}\r\n\r\n`,
  'a hexadecimal length': (n) => `${head}Content-Length: 0x${n.toString(16)}\r\n\r\n`,
  'an empty length': () => `${head}Content-Length: \r\n\r\n`,
  'a length that no number holds': () => `${head}Content-Length: 99999999999999999999999\r\n\r\n`,
  'a folded header': (n) => `${head}X: a\r\n Content-Length: ${n}\r\n\r\n`,
  'a folded transfer encoding': (n) =>
    `${head}Transfer-Encoding:\r\n chunked\r\nContent-Length: ${n + 5}\r\n\r\n${end}`,
  'bare line feeds': (n) => `${head}Content-Length: ${n}\r\n\r\n`.replaceAll('\r\n', '\n'),
  'one bare line feed': (n) => `${head}X: a\nContent-Length: ${n}\r\n\r\n`,
  'bare line feeds at the end of the head': () => `${head}Content-Length: 0\n\n`,
  'a bare carriage return': (n) => `${head}X: a\rContent-Length: ${n}\r\n\r\n`,
  'a NUL in a header': (n) => `${head}X: a\0b\r\nContent-Length: ${n}\r\n\r\n`,
  'a space in the name of a header': (n) => `${head}Content -Length: ${n}\r\n\r\n`,
  'a space before the first header': () => 'POST /api/auth.asp HTTP/1.1\r\n Host: x\r\n\r\n',
  'two hosts': () => `${head}Host: y\r\nContent-Length: 0\r\n\r\n`,
  'no host': () => 'POST /api/auth.asp HTTP/1.1\r\nContent-Length: 0\r\n\r\n',
  'a line feed in a chunk extension': (n) => `${head}${chunked}\r\n2;\nxx\r\n${n.toString(16)}\r\n${end}`,
  'line feeds after the last chunk': () => `${head}${chunked}\r\n0\n\n`,
  'a negative chunk': () => `${head}${chunked}\r\n-1\r\n`,
  'a chunk that no number holds': () => `${head}${chunked}\r\nFFFFFFFFFFFFFFFFF\r\n`,
  'a chunk size with 0x': () => `${head}${chunked}\r\n0x0\r\n\r\n`,
  'the preface of HTTP/2': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'no version': () => 'GET /api/auth.asp\r\n\r\n',
  'a line break in the target': () => 'GET /api/auth.asp?\r\nX: HTTP/1.1\r\nHost: x\r\n\r\n',
  'a tunnel': () => 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n',
}

/** Heads whose body is the other request, or a malformed body followed by it. The server gives only one answer. */
const body: Readonly<Record<string, (length: number) => string>> = {
  'a GET with a body': (n) => `GET /api/auth.asp HTTP/1.1\r\nHost: x\r\nContent-Length: ${n}\r\n\r\n`,
  'an upgrade that is not granted': (n) => `${head}Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: ${n}\r\n\r\n`,
  'an expectation that cannot be met': (n) => `${head}Expect: x\r\nContent-Length: ${n}\r\n\r\n`,
  'more than a chunk has': () => `${head}${chunked}\r\n1\r\naXX${end}`,
}

describe.each(inTurn(layouts))('%s', (layout) => {
  let deployment: Deployment
  let url: string
  let hidden: string
  beforeAll(async () => {
    deployment = await deploy(layout)
    const client = deployment.victim('asp')
    url = client.url
    hidden = `GET /api/credits.asp?apikey=${client.key} HTTP/1.1\r\nHost: x\r\n\r\n`
    expect(await raw(url, hidden)).toContain('Credits=')
  }, 120_000)
  afterAll(async () => {
    killLeftovers()
    await deployment.stop()
  })

  test.each(Object.entries(ambiguous))('%s: refused, and the connection is closed', async (_what, form) => {
    const answer = await raw(url, form(hidden.length) + hidden)
    expect(answer).toMatch(/^(?:HTTP\/1\.1 400 |HTTP\/1\.1 405 |$)/)
    expect(answer.match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThanOrEqual(1)
    expect(answer).not.toContain('Credits=')
  })

  test.each(Object.entries(body))('%s: one answer', async (_what, form) => {
    const answer = await raw(url, form(hidden.length) + hidden)
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
    expect(answer).not.toContain('Credits=')
  })
})
