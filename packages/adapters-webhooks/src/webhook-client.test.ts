import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { WebhookClient } from '@gateway/core/webhooks'
import { runsEveryForm, until } from '@gateway/core/testing'
import { Webhook } from 'standardwebhooks'
import { aPush, aSecret } from '../testing/pushes.ts'
import {
  startReceiver,
  type Received,
  type Receiver,
  type ReceiverMode,
  type ReceiverSettings,
} from '../testing/receiver.ts'
import { canMakeCertificates, selfSigned } from '../testing/self-signed.ts'
import { webhookClient, type WebhookClientSettings } from './webhook-client.ts'

const local = { allow: ['127.0.0.0/8'], http: true } as const
const cleanUp: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each()
})

const client = (settings: WebhookClientSettings = {}): WebhookClient => {
  const made = webhookClient({ ...local, ...settings })
  cleanUp.push(() => made.close(Promise.resolve()))
  return made
}

const receiver = async (settings: ReceiverSettings = {}): Promise<Receiver> => {
  const made = await startReceiver(settings)
  cleanUp.push(() => made.close())
  return made
}

/** Deadline that is short for a test and still long enough on a loaded machine. */
const hasty = { totalMilliseconds: 600 }

const aBody = '{"type":"events","text":"žluťoučký 😀"}'

test('a push is one POST of its body, signed as the public library of Standard Webhooks verifies', async () => {
  const received: Received[] = []
  const { url } = await receiver({ onRequest: (request) => received.push(request) })
  expect(await client().push(aPush(url, { body: aBody }))).toEqual({
    outcome: 'answered',
    status: 200,
    retryAfterSeconds: undefined,
    beginning: 'thanks',
    milliseconds: expect.any(Number) as number,
  })
  expect(received).toHaveLength(1)
  const [{ method, path, headers } = received[0] as Received] = received
  expect({ method, path }).toEqual({ method: 'POST', path: '/hook?a=b' })
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'accept-encoding': 'identity' })
  expect(new Webhook(aSecret).verify(received[0]?.body ?? '', { ...headers })).toEqual(JSON.parse(aBody))
})

const answered: readonly (readonly [ReceiverMode, number, string, number | undefined])[] = [
  ['ok', 200, 'thanks', undefined],
  ['error', 500, 'out of order\ufffd\ufffd[31m', undefined],
  ['gone', 410, '', undefined],
  ['redirect', 307, '', undefined],
  ['throttled', 429, 'later', 120],
  ['close-in-body', 200, 'part', undefined],
  ['gzip-bomb', 200, '', undefined],
]

test.each(answered)('%s is answered with its status', async (mode, status, beginning, retryAfterSeconds) => {
  const paths: string[] = []
  const { url } = await receiver({ mode, onRequest: ({ path }) => paths.push(path) })
  expect(await client().push(aPush(url))).toMatchObject({ outcome: 'answered', status, beginning, retryAfterSeconds })
  // The client does not follow a redirect.
  expect(paths).toEqual(['/hook?a=b'])
})

test.each([
  ['slow-headers', 'timeout'],
  ['endless-hints', 'timeout'],
  ['silent-connection', 'timeout'],
  ['endless-headers', 'invalid-answer'],
  ['no-http', 'invalid-answer'],
  ['unasked-upgrade', 'invalid-answer'],
  ['close', 'connection-closed'],
] as const)('%s fails: %s', async (mode, failure) => {
  const { url } = await receiver({ mode })
  expect(await client(hasty).push(aPush(url))).toMatchObject({ outcome: 'failed', failure })
})

test.each([
  ['unasked-continue', 200, 'thanks', 3],
  ['continue-in-pieces', 204, '', 1],
] as const)(
  '%s: 100 Continue is ignored, and the next response counts, also on a reused connection',
  async (mode, status, beginning, times) => {
    const { url, connections } = await receiver({ mode })
    const one = client()
    for (let i = 0; i < times; i++)
      expect(await one.push(aPush(url))).toMatchObject({ outcome: 'answered', status, beginning })
    expect(connections.made).toBe(1)
  },
)

test('a body that exceeds the time limit is dropped, and the status counts', async () => {
  const slow = await receiver({ mode: 'slow-body' })
  const answer = await client(hasty).push(aPush(slow.url))
  expect(answer).toMatchObject({
    outcome: 'answered',
    status: 200,
    beginning: expect.stringMatching(/^one\.*$/) as string,
  })
  expect(answer.milliseconds).toBeGreaterThanOrEqual(hasty.totalMilliseconds - 1)
})

/** Returns the bytes of memory in use after a garbage collection. */
async function memoryInUse(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 3; i += 1) {
    collect()
    await setImmediate()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test.each(['endless-body', 'gzip-bomb'] as const)(
  'of an %s 64 kB are read and never inflated, its connection is dropped, and memory stays flat',
  async (mode) => {
    const endless = await receiver({ mode })
    const pushing = client()
    await pushing.push(aPush(endless.url))
    const before = await memoryInUse()
    const count = 100
    for (let pushed = 0; pushed < count; pushed += 1) {
      expect(await pushing.push(aPush(endless.url))).toMatchObject({ outcome: 'answered', status: 200 })
    }
    expect((await memoryInUse()) - before).toBeLessThan(32 * 1024 * 1024)
    expect(endless.connections.made).toBe(count + 1)
    // The operating system buffers some megabytes before the connection is dropped.
    expect(endless.sent.bytes / count).toBeLessThan(16 * 1024 * 1024)
  },
)

test('a connection is reused, and a concurrent request opens a second one', async () => {
  const { url, connections } = await receiver()
  const pushing = client()
  for (let pushed = 0; pushed < 5; pushed += 1) await pushing.push(aPush(url))
  expect(connections.made).toBe(1)
  await Promise.all([1, 2, 3].map(() => pushing.push(aPush(url))))
  expect(connections.made).toBeLessThanOrEqual(3)
})

test('a slow request does not delay another request to the same host', async () => {
  let mode: ReceiverMode = 'slow-headers'
  let begun = 0
  const { url } = await receiver({ modeOf: () => mode, onRequest: () => (begun += 1) })
  const pushing = client({ totalMilliseconds: 60_000 })
  const slow = [1, 2, 3, 4, 5].map(() => pushing.push(aPush(url)))
  await until(() => begun === slow.length)
  mode = 'ok'
  expect(await pushing.push(aPush(url))).toMatchObject({ status: 200 })
  await pushing.close(Promise.resolve())
  for (const answer of await Promise.all(slow)) expect(answer).toMatchObject({ failure: 'stopped' })
})

const can = canMakeCertificates()
if (!can) console.warn('skipped: webhooks over TLS, which needs openssl to make certificates with')

;(can ? describe : describe.skip)('over TLS', () => {
  const certificate = can ? selfSigned(['DNS:hooks.example', 'IP:127.0.0.1']) : { key: '', cert: '' }
  const resolve = () => Promise.resolve(['127.0.0.1'])
  const named = ({ port }: Receiver, name = 'hooks.example') => `https://${name}:${port}/hook`

  test('a certificate of a trusted authority for the name or the address is accepted', async () => {
    const hosts: unknown[] = []
    const secure = await receiver({ tls: certificate, onRequest: ({ headers }) => hosts.push(headers.host) })
    const pushing = client({ ca: certificate.cert, resolve })
    for (const url of [named(secure), named(secure, 'hooks.example.'), secure.url])
      expect(await pushing.push(aPush(url))).toMatchObject({ status: 200 })
    expect(hosts[0]).toBe(`hooks.example:${secure.port}`)
  })

  test('a wrong name, an unknown authority or a server without TLS fails as tls-failed before anything is sent', async () => {
    const paths: string[] = []
    const onRequest = ({ path }: Received) => paths.push(path)
    const secure = await receiver({ tls: certificate, onRequest })
    const plain = await receiver({ onRequest })
    const knowing = client({ ca: certificate.cert, resolve })
    const pushes = [
      knowing.push(aPush(named(secure, 'other.example'))),
      client({ resolve }).push(aPush(named(secure))),
      knowing.push(aPush(named(plain))),
    ]
    for (const push of pushes) expect(await push).toMatchObject({ failure: 'tls-failed' })
    expect(paths).toEqual([])
  })
})

test('a closed port and a name without addresses are different failures', async () => {
  const gone = await receiver()
  await gone.close()
  expect(await client().push(aPush(gone.url))).toMatchObject({ failure: 'connection-failed' })
  // No server has this name (RFC 6761). Without a network the query itself fails or times out.
  const answer = await client().push(aPush('http://nobody.invalid/'))
  expect(answer).toMatchObject({ failure: expect.stringMatching(/^(name-not-found|timeout)$/) as string })
})

test('the next address of a name is tried when one refuses the connection', async () => {
  const { url, port } = await receiver()
  const resolve = () => Promise.resolve(['127.0.0.1', '127.0.0.2', '127.0.0.3'])
  const pushing = client({ resolve })
  for (let pushed = 0; pushed < 5; pushed += 1)
    expect(await pushing.push(aPush(url.replace('127.0.0.1', 'hooks.example')))).toMatchObject({ status: 200 })
  expect(port).toBeGreaterThan(0)
})

/** The default of 15 s in total takes as long to test, so only a full run waits for it. */
const inTotal = runsEveryForm ? { settings: {}, seconds: 15 } : { settings: { totalMilliseconds: 5000 }, seconds: 5 }

test(`by default, connecting may take 3 s with name resolution and TLS, and a request ${inTotal.seconds} s in total`, async () => {
  const silent = createServer(() => undefined)
  const sockets: Socket[] = []
  silent.on('connection', (socket) => sockets.push(socket))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const never = () => new Promise<never>(() => undefined)
  const [tls, name, answer] = await Promise.all([
    client().push(aPush(`https://127.0.0.1:${port}/`)),
    client({ resolve: never }).push(aPush('https://hooks.example/')),
    client(inTotal.settings).push(aPush(`http://127.0.0.1:${port}/`)),
  ])
  for (const socket of sockets) socket.destroy()
  silent.close()
  for (const each of [tls, name, answer]) expect(each).toMatchObject({ failure: 'timeout' })
  expect(Math.round(tls.milliseconds / 1000)).toBe(3)
  expect(Math.round(name.milliseconds / 1000)).toBe(3)
  expect(Math.round(answer.milliseconds / 1000)).toBe(inTotal.seconds)
})

test('close lets requests finish until the deadline and fails unfinished and later ones as stopped', async () => {
  let mode: ReceiverMode = 'ok'
  const { url } = await receiver({ modeOf: () => mode })
  const pushing = client()
  expect(await pushing.push(aPush(url))).toMatchObject({ status: 200 })
  mode = 'slow-headers'
  const slow = pushing.push(aPush(url))
  const connecting = client({ resolve: () => new Promise<never>(() => undefined) })
  const unconnected = connecting.push(aPush('https://hooks.example/'))
  await Promise.all([pushing, connecting].map((each) => each.close(Promise.resolve())))
  expect(await slow).toMatchObject({ failure: 'stopped' })
  expect(await unconnected).toMatchObject({ failure: 'stopped' })
  expect(await pushing.push(aPush(url))).toMatchObject({ failure: 'stopped' })
})

test('close waits for requests that finish before the deadline', async () => {
  const { url } = await receiver()
  const pushing = client()
  const push = pushing.push(aPush(url))
  await pushing.close(new Promise(() => undefined))
  expect(await push).toMatchObject({ status: 200 })
})
