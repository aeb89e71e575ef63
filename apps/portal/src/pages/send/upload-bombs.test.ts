import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { until } from '@gateway/core/testing'
import { startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'
import { readList } from '../../read-list.ts'

let portal: Portal
let visitor: Visitor
let token: string
beforeAll(async () => {
  portal = await startPortal()
  visitor = await portal.signedIn()
  token = (await visitor.get('/send')).html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
})
afterAll(() => portal.close())

const million = 1_000_000
const mebibyte = 1024 * 1024

/** Starts a request whose body is written piece by piece, and returns it with its response. */
function begin(headers: Readonly<Record<string, string>>): {
  request: ClientRequest
  answer: Promise<IncomingMessage>
} {
  const request = httpRequest(`${portal.url}/send`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin', cookie: visitor.cookie ?? '', ...headers },
  })
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
  // A test that aborts the request does not wait for the response.
  answer.catch(() => undefined)
  return { request, answer }
}

const multipart = { 'content-type': 'multipart/form-data; boundary=x' }
const head = () =>
  `--x\r\nContent-Disposition: form-data; name="token"\r\n\r\n${token}\r\n` +
  `--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n27820000001,"`

/** Returns the peak growth of memory outside the heap, in bytes, while `work` runs. */
async function memoryOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers
  let most = before
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers)), 5)
  await work()
  clearInterval(timer)
  return most - before
}

test('a cell of 100 MB is answered with 413 before it is complete, and is not kept in memory', async () => {
  const { request, answer } = begin(multipart)
  const piece = Buffer.alloc(mebibyte, 'x')
  const memoryUsed = await memoryOf(async () => {
    request.write(head())
    for (let i = 0; i < 100; i++) await new Promise((done) => request.write(piece, done))
    request.end('"\r\n--x--\r\n')
    expect((await answer).statusCode).toBe(413)
  })
  // The measured memory includes that of the client and the sockets.
  expect(memoryUsed).toBeLessThan(90 * mebibyte)
})

test.each([
  ['a cell of 5 MB', `27820000001,"${'x'.repeat(5 * million)}"`, 'broken'],
  ['a row without an end', `27820000001,"${'x\n'.repeat(2 * million)}`, 'broken'],
  ['a first row of a million columns', ','.repeat(million), 'too-many-columns'],
  ['a later row of 5 million columns', `27820000001\n${','.repeat(5 * million)}`, 'too-many-columns'],
  ['a million of blank rows', '\n'.repeat(million), 'too-many'],
  ['5 MB of quotes', '"'.repeat(5 * million), 'broken'],
  ['bytes that are not a text', Buffer.alloc(million, 0xff).toString('latin1'), 'broken'],
])('%s is refused, and other requests are served meanwhile', async (_what, text, problem) => {
  const bytes = Buffer.from(text, 'latin1')
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  const found = await readList(bytes, undefined)
  clearInterval(timer)
  expect(found).toBe(problem)
  // Even on a busy machine, one piece takes far less than 2 seconds. The whole file takes far more.
  expect(longest).toBeLessThan(2000)
})

test('a form of thousands of parts is answered with 413', async () => {
  const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
  const { request, answer } = begin(multipart)
  request.end(`${part.repeat(5000)}--x--\r\n`)
  expect((await answer).statusCode).toBe(413)
})

test('a compressed form is not decompressed, so it has no token and does nothing', async () => {
  const { request, answer } = begin({ 'content-encoding': 'gzip', 'content-type': 'application/x-www-form-urlencoded' })
  const small = gzipSync(`token=${token}&text=${'x'.repeat(50 * million)}`)
  const memoryUsed = await memoryOf(async () => {
    request.end(small)
    expect((await answer).statusCode).toBe(403)
  })
  expect(memoryUsed).toBeLessThan(20 * mebibyte)
})

test('uploads that never end do not block any page', async () => {
  const slow = Array.from({ length: 20 }, () => begin(multipart).request)
  for (const request of slow) await new Promise((done) => request.write(head(), done))
  try {
    expect((await visitor.get('/')).status).toBe(200)
    const { to = '' } = await visitor.submit('/send', { text: 'Hello', numbers: '27820000001' })
    const check = await visitor.get(to)
    expect([check.status, check.text]).toEqual([200, expect.stringContaining('Nothing has been sent or charged yet.')])
  } finally {
    for (const request of slow) request.on('error', () => undefined).destroy()
  }
  await until(async () => (await visitor.get('/')).status === 200)
})
