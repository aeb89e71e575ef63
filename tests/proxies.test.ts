import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { systemClock } from '../packages/adapters-node/src/index.ts'
import { postgresPorts, type PostgresPorts } from '@gateway/adapters-postgres'
import { createProcessing } from '@gateway/core'
import { aCarrierId, until } from '@gateway/core/testing'
import { httpProviders } from '../packages/smsc-simulator/src/index.ts'
import { canaryRequests } from './hostile/canary-requests.ts'
import { asp, restSend } from './support/clients.ts'
import { inTurn } from './support/in-turn.ts'
import { secret, startProxied, type Proxied } from './support/proxied.ts'
import { proxyNames, whyNoProxies } from './support/proxies.ts'
import { askOver, rawTls, type RawTls } from './support/tls-clients.ts'

// Runs the configurations under docs/proxy in front of two processes of each interface. Only their ports and paths are
// replaced by those of the test.
const why = whyNoProxies()
if (why !== undefined) process.stderr.write(`NOTICE: the documented proxies are not tested here: ${why}\n`)
const describeProxies = why === undefined ? describe.each(inTurn(proxyNames)) : describe.skip.each(proxyNames)

/** Address that providers call, as it would be in public. Signatures cover it, whatever address a test connects to. */
const publicUrl = 'https://sms.example.com'
const providerSecrets = { sid: 'AC1', token: 'canary-of-a-token' }

/** Writes carriers in which a simulator accepts every message, and a provider calls back. */
async function carrierFile(folder: string): Promise<string> {
  const provider = { name: 'provider', type: 'http', provider: 'twilio', secrets: providerSecrets }
  const carriers = [{ name: 'simulator', url: 'simulator:?delayMs=10' }, provider]
  const file = join(folder, 'carriers.json')
  await writeFile(file, JSON.stringify({ carriers, routes: [{ name: 'all', carriers: [{ carrier: 'simulator' }] }] }))
  return file
}

const carrier = aCarrierId('network')
let proxied: Proxied
let postgres: PostgresPorts
let stop = (): Promise<void> => Promise.resolve()

if (why === undefined) {
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gw-carriers-'))
    proxied = await startProxied({ CARRIERS: `file:${await carrierFile(folder)}`, PUBLIC_URL: publicUrl })
    postgres = postgresPorts({ connectionString: proxied.environment.DATABASE_URL ?? '' })
    stop = async () => {
      await postgres.close()
      await proxied.stop()
      await rm(folder, { recursive: true })
    }
  }, 180_000)
  afterAll(() => stop(), 120_000)
}

/** Returns an unknown XML element of this many bytes. */
const element = (bytes: number): string => `<A>${'y'.repeat(bytes - 7)}</A>`
const ending = ' HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

describeProxies('%s', (name) => {
  test('loads without a warning', () => {
    const { code, text } = proxied.proxy(name).check()
    expect(code).toBe(0)
    expect(text).not.toMatch(/warn|alert|emerg|notice/i)
  })

  test('a request line and headers of 64 kB reach the gateway; beyond that the answer is a refusal', async () => {
    const proxy = proxied.proxy(name)
    const { key } = await proxied.newAccount(1)
    const answerTo = async (request: string): Promise<string> => {
      const client = rawTls(proxy, request)
      await until(client.closed, 20_000)
      return client.text()
    }
    const begin = `GET /api/batchmessage.asp?apikey=${key}&numbers=${secret.number}&message=${secret.text}`
    const send = (bytes: number) => begin + 'x'.repeat(bytes - begin.length - ending.length) + ending
    for (const bytes of [2_000, 9_000, 40_000, 65_000, 65_536]) {
      const answer = await answerTo(send(bytes))
      expect([bytes, answer]).toEqual([bytes, expect.stringMatching(/^HTTP\/1.1 200 /)])
      expect(answer).toMatch(new RegExp(`\\r\\n\\r\\n${secret.number}=TOOLONG&$`))
    }
    for (const bytes of [66_500, 75_000, 100_000, 1_000_000]) {
      const answer = await answerTo(send(bytes))
      expect([bytes, answer]).toEqual([bytes, expect.stringMatching(/^HTTP\/1.1 4\d\d /)])
    }
    const header = `GET /api/credits.asp HTTP/1.1\r\nHost: x\r\nX: ${key}${'x'.repeat(200_000)}\r\n\r\n`
    expect(await answerTo(header)).toMatch(/^HTTP\/1.1 4\d\d /)
  }, 60_000)

  test('an XML document of 4 MB reaches the gateway; a larger one is refused in words of the interface', async () => {
    const { url, ca } = proxied.proxy(name)
    const { key } = await proxied.newAccount(1)
    const post = async (bytes: number) => {
      const [begin, end] = [`<Svc_Replies><ApiKey>${key}</ApiKey>`, '</Svc_Replies>']
      const padding = bytes - begin.length - end.length
      const full = Math.floor(padding / 60_000) - 1
      const half = Math.floor((padding - full * 60_000) / 2)
      const body = begin + element(60_000).repeat(full) + element(half) + element(padding - full * 60_000 - half) + end
      const { status, text } = await askOver({ ca }, false)(`${url}/api/xmlgetreplies.asp`, { method: 'POST', body })
      return [status, await text()]
    }
    expect(await post(4 * 1024 * 1024)).toEqual([200, expect.stringMatching(/<XMLGateway_Replies(\/>|><\/)/)])
    expect(await post(4 * 1024 * 1024 + 1)).toEqual([413, expect.stringContaining('<Error>Body too large</Error>')])
    expect((await post(20_000_000))[0]).toBe(413)
  }, 60_000)

  test('each path reaches its interface, and nothing but /api and /docs is served: health and metrics are not for the public', async () => {
    const proxy = proxied.proxy(name)
    const { key } = await proxied.newAccount(7)
    const ask = async (path: string, init: RequestInit = {}) => {
      const { status, text } = await askOver(proxy, false)(proxy.url + path, init)
      return [status, await text()]
    }
    const headers = { Authorization: key }
    expect(await ask('/api/rest/v1/credits/balance', { headers })).toEqual([200, expect.stringContaining(':7.0}')])
    expect(await ask(`/API/Credits.ASP?apikey=${key}`)).toEqual([200, 'Credits=7'])
    const body = `<Svc_Replies><User>holder</User><Password>${secret.password}</Password></Svc_Replies>`
    expect((await ask('/api/XMLgetreplies.asp', { method: 'POST', body }))[1]).toContain('<Error>Authentication failed')
    expect(await ask('/api/other')).toEqual([404, 'Not found'])
    expect((await ask('/docs/'))[1]).toContain('swagger-ui-bundle.js')
    expect((await ask('/docs/openapi.json'))[1]).toContain('smsOutgoingSend')
    expect((await ask('/docs/query-string'))[1]).toContain('batchmessage.asp')
    expect((await ask('/docs/xml/send-request.xsd'))[1]).toContain('Svc_Multi_Message')
    expect((await ask('/docs/nothing'))[0]).toBe(404)
    for (const path of ['/', '/docsx', '/health/ready', '/metrics', '/api/../metrics', '//metrics']) {
      expect([path, (await ask(path))[0]]).toEqual([path, 404])
    }
  }, 60_000)

  test('a signed callback reaches the gateway as the provider sent it, and a changed one is refused', async () => {
    const proxy = proxied.proxy(name)
    const { twilio } = httpProviders
    const path = `/carriers/provider/callback?a=%41+%2b&${name}=1`
    const message = { id: name, to: secret.number, from: '15005550006', text: '', credentials: providerSecrets }
    const unsigned = twilio.receipt(message, 'delivered', publicUrl + path)
    const { headers, body } = twilio.sign?.(unsigned, providerSecrets, 0) ?? unsigned
    const call = async (sent: string) =>
      (await askOver(proxy, false)(proxy.url + path, { method: 'POST', headers, body: sent })).status
    expect([await call(body), await call(`${body}&x=1`)]).toEqual([204, 403])
    const large = await askOver(proxy, false)(proxy.url + path, { method: 'POST', headers, body: 'x'.repeat(262_145) })
    expect(large.status).toBe(413)
    expect((await askOver(proxy, false)(`${proxy.url}/carriers/none/callback`, {})).status).toBe(404)
  }, 60_000)

  test('the portal is served under a name of its own: a cookie for TLS alone, pages that follow', async () => {
    const proxy = proxied.proxy(name)
    const { login } = await proxied.newAccount(1)
    const ask = askOver(proxy, false)
    const own = { Host: 'portal.localhost', 'Sec-Fetch-Site': 'same-origin' }
    for (const path of ['/health/ready', '/metrics']) {
      expect([path, (await ask(proxy.url + path, { headers: own })).status]).toEqual([path, 404])
    }
    expect((await ask(`${proxy.url}/sign-in`, { headers: { Host: 'localhost' } })).status).toBe(404)
    const signedIn = await ask(`${proxy.url}/sign-in`, {
      method: 'POST',
      headers: { ...own, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ login, password: secret.password }).toString(),
    })
    const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? []
    expect(cookie).toMatch(/^__Host-portal=/)
    const page = await ask(`${proxy.url}/`, { headers: { ...own, Cookie: cookie } })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('You have 1.0 credits left.')])
    // The proxy must forward the first part of the stream while the stream is open.
    const stream = rawTls(
      proxy,
      `GET / HTTP/1.1\r\nHost: portal.localhost\r\nAccept: text/event-stream\r\nCookie: ${cookie}\r\n\r\n`,
    )
    await until(() => stream.text().includes('data:'), 20_000)
    expect([stream.closed(), stream.text()]).toEqual([
      false,
      expect.stringMatching(/content-type: text\/event-stream/i),
    ])
    stream.reset()
  }, 60_000)

  describe('a poll of replies whose client hangs up', () => {
    const number = `2782444${name === 'nginx' ? '55' : '66'}01`
    let brought = 0
    const bring = async (texts: readonly string[]) => {
      const common = { from: number, to: undefined, sent: undefined, offer: undefined, part: undefined }
      const replies = texts.map((text) => ({ ...common, text, reference: `${name} ${++brought}` }))
      await createProcessing({ ...postgres.ports, clock: systemClock() }).acceptInboundMessages(carrier, replies)
    }
    const holder = async () => {
      const { key } = await proxied.newAccount(10)
      const [id] = await restSend(proxied.directly('rest', key), [number])
      const status = () => asp(proxied.directly('asp', key), 'requestbatch.asp', { messageid: `${String(id)};` })
      await until(async () => (await status()).includes('DELIVERED'), 30_000)
      return key
    }
    const poll = (key: string) => rawTls(proxied.proxy(name), `GET /api/httpgetreplies.asp?apikey=${key}${ending}`)
    const replies = async (key: string): Promise<readonly string[]> => {
      const client = poll(key)
      await until(client.closed, 30_000)
      return Array.from(client.text().matchAll(/Message=([^;&]*)/g), ([, text = '']) => text)
    }

    test.each<[string, (client: RawTls) => unknown]>([
      ['resets', ({ reset }) => reset()],
      ['closes', ({ socket }) => socket.destroy()],
    ])(
      '%s its connection before the answer comes: the reply is offered again',
      async (how, hangUp) => {
        const key = await holder()
        const text = `${secret.text} ${how}`
        await bring([text])
        const release = await holdReplies()
        try {
          const client = poll(key)
          await until(release.someoneWaits, 20_000)
          const before = proxied.proxy(name).log().length
          hangUp(client)
          // The proxy writes its log line after it has closed the connections to the client and to the gateway.
          await until(() => proxied.proxy(name).log().length > before, 20_000)
        } finally {
          await release.release()
        }
        let got: readonly string[] = []
        await until(async () => (got = await replies(key)).length > 0, 20_000)
        expect(got).toEqual([text])
        expect(await replies(key)).toEqual([])
      },
      60_000,
    )

    // 32 MB are more than all buffers of the system hold between gateway and client, which may be 10 MB per connection.
    const large = Array.from({ length: 2000 }, (_, i) => `${i} ${'x'.repeat(16_000)}`)
    const bringLarge = async () => {
      for (let at = 0; at < large.length; at += 100) await bring(large.slice(at, at + 100))
    }

    test('in the middle of a large answer: every reply is offered again, in its order', async () => {
      const another = await holder()
      await bringLarge()
      const key = await holder()
      await bringLarge()
      /** Polls for replies. The response is empty while they are still being restored. */
      const pollUntil = (bytes: number): Promise<RawTls> =>
        until(async () => {
          const client = poll(key)
          await until(() => client.received() >= bytes || client.closed(), 30_000)
          if (client.received() >= bytes) return client
          client.reset()
          return undefined
        }, 30_000)
      for (const bytes of [1000, 100_000]) (await pollUntil(bytes)).reset()
      // This client stops reading. If the proxy buffered complete responses, it would have received this one completely
      // by the time that another client has read as much.
      const stopped = await pollUntil(1000)
      stopped.socket.pause()
      expect(await replies(another)).toEqual(large)
      stopped.reset()
      let got: readonly string[] = []
      await until(async () => (got = await replies(key)).length > 0, 60_000)
      expect(got).toEqual(large)
    }, 240_000)
  })
})

if (why === undefined) {
  test('no key, password, text or number is in a log of the proxies or of the gateway', async () => {
    const { key } = await proxied.newAccount(1)
    const refused = `apikey=${key}x&user=${secret.number}&password=${secret.password}&message=${secret.text}`
    for (const name of proxyNames) {
      const { url } = proxied.proxy(name)
      await askOver(proxied.proxy(name), false)(`${url}/api/batchmessage.asp?${refused}&numbers=${secret.number}`, {})
      await until(() => /GET \/api\/batchmessage\.asp 200/.test(proxied.proxy(name).log()), 20_000)
      const canaries = { key, wrongKey: `${key}x`, user: 'holder', password: secret.password, text: secret.text }
      const requests = Object.values(canaryRequests).flatMap((of) => of(canaries))
      const next = async (): Promise<void> => {
        for (let bytes = requests.pop(); bytes !== undefined; bytes = requests.pop()) {
          const client = rawTls(proxied.proxy(name), bytes)
          // Waits until the response begins, or for 2 s, because some requests get no response at once.
          const answered = Date.now() + 2000
          await until(() => client.closed() || client.received() > 0 || Date.now() > answered, 20_000)
          client.reset()
        }
      }
      await Promise.all(Array.from({ length: 8 }, next))
    }
    const logs = proxied.logs()
    expect(logs.split('\n').filter((line) => proxied.secrets.some((each) => line.includes(each)))).toEqual([])
  }, 120_000)
}

/** Delays every call that consumes replies until it is released. */
async function holdReplies() {
  const client = new pg.Client({ connectionString: proxied.environment.DATABASE_URL })
  await client.connect()
  await client.query('begin')
  await client.query('lock table inbound_message_offered in access exclusive mode')
  const waiting = `select 1 from pg_locks where relation = 'inbound_message_offered'::regclass and not granted`
  return {
    someoneWaits: async () => ((await client.query(waiting)).rowCount ?? 0) > 0,
    release: () => client.end(),
  }
}
