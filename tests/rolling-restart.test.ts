import { Agent } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import { attempt, interfaces, unavailable, type Attempt } from './support/attempts.ts'
import { restBalance } from './support/clients.ts'
import type { Instance } from './support/pairs.ts'
import { secret, startProxied, type Proxied } from './support/proxied.ts'
import { proxyNames, whyNoProxies, type Proxy } from './support/proxies.ts'
import { submissions } from './support/record.ts'
import { askOver, rawTls } from './support/tls-clients.ts'

// Instances behind the documented proxies are restarted, killed and all taken away, while clients send.
const why = whyNoProxies()
if (why !== undefined)
  process.stderr.write(`NOTICE: restarts behind the documented proxies are not tested here: ${why}\n`)
const describeProxies = why === undefined ? describe.each(proxyNames) : describe.skip.each(proxyNames)

const granted = 100_000
/** Of a lane, between two requests: some are under way at each moment, and the machine has time for all else. */
const pauseMilliseconds = 150
/** While nothing changes: an instance that gets no request any more drains, or starts. */
const calmPauseMilliseconds = 500
let proxied: Proxied
let stop = (): Promise<void> => Promise.resolve()

if (why === undefined) {
  beforeAll(async () => {
    proxied = await startProxied({ DRAIN_SECONDS: '4' })
    stop = proxied.stop
  }, 180_000)
  afterAll(() => stop(), 120_000)
}

/** Sends without an end, each time to another number, in so many lanes; half of them keep their connection. */
function keepSending(proxy: Proxy, key: string, prefix: string, lanes: number) {
  const attempts: Attempt[] = []
  const state = { over: false, begun: 0, pause: pauseMilliseconds }
  const keeping = new Agent({ keepAlive: true, ca: proxy.ca })
  // A reload of nginx ends idle connections of clients, as its documentation says; HAProxy is not reloaded.
  const asks = [askOver(proxy, false), askOver(proxy, proxy.name === 'haproxy' ? keeping : false)]
  const lane = async (at: number): Promise<void> => {
    while (!state.over) {
      const turn = state.begun++
      const number = `${prefix}${String(turn).padStart(4, '0')}01`
      const by = interfaces[turn % 3] ?? 'rest'
      attempts.push(await attempt(by, { url: proxy.url, key }, number, asks[at % 2]))
      await delay(state.pause)
    }
  }
  const running = Array.from({ length: lanes }, (_, at) => lane(at))
  return {
    attempts,
    /** Sends less often until `during` is over. */
    calmly: async (during: () => Promise<unknown>) => {
      state.pause = calmPauseMilliseconds
      await during().finally(() => (state.pause = pauseMilliseconds))
    },
    stop: async () => {
      state.over = true
      await Promise.all(running)
      keeping.destroy()
    },
  }
}

/** How often each number was submitted, as soon as all that was charged has been. */
async function submitted(key: string, prefix: string): Promise<ReadonlyMap<string, number>> {
  const charged = granted - (await restBalance(proxied.directly('rest', key)))
  const ours = async () => (await submissions(proxied.folder)).filter(({ number }) => number.startsWith(prefix))
  await until(async () => (await ours()).length >= charged, 60_000)
  const times = new Map<string, number>()
  for (const { number } of await ours()) times.set(number, (times.get(number) ?? 0) + 1)
  return times
}

/** Each send answered 200 is stored once, none twice, and what was told to come again was not stored. */
function judge(attempts: readonly Attempt[], times: ReadonlyMap<string, number>): void {
  const storedTimes = ({ number }: Attempt) => times.get(number) ?? 0
  const [answered, told] = [attempts.filter(({ status }) => status === 200), attempts.filter(saysComeAgain)]
  expect(answered.filter((one) => one.id === undefined || storedTimes(one) !== 1).map(inWords)).toEqual([])
  expect(attempts.filter((one) => storedTimes(one) > 1).map(inWords)).toEqual([])
  expect(told.filter((one) => storedTimes(one) !== 0).map(inWords)).toEqual([])
}

const inWords = ({ by, number, status, retryAfter, text }: Attempt): string =>
  `${by} ${number}: ${status}, Retry-After ${retryAfter ?? 'not given'}, ${text}`
const saysComeAgain = ({ status, retryAfter }: Attempt): boolean => status === 503 && retryAfter !== null
const isServed = (one: Attempt): boolean => one.status === 200 || saysComeAgain(one)

async function restart(proxy: Proxy, instance: Instance, load: ReturnType<typeof keepSending>): Promise<void> {
  await proxy.takeOut(instance)
  const stopped = instance.stop()
  await proxy.isOut(instance)
  // Of 4 s of draining; the load is the full one again when the process ends.
  await load.calmly(() => Promise.race([delay(1_500), stopped]))
  expect(await stopped).toBe(0)
  await load.calmly(async () => {
    await instance.start()
    await until(async () => (await fetch(`${instance.process().url}/health/ready`)).status === 200, 20_000)
  })
  await proxy.putBack(instance)
}

describeProxies('%s', (name) => {
  const digit = name === 'nginx' ? '1' : '2'

  test('a restart of one instance after the other loses no request, and no message is accepted twice', async () => {
    const proxy = proxied.proxy(name)
    const { key } = await proxied.newAccount(granted)
    const load = keepSending(proxy, key, `2782${digit}`, 8)
    await until(() => load.attempts.length > 100, 30_000)
    for (const instance of proxied.instances) await restart(proxy, instance, load)
    const sentMeanwhile = load.attempts.length
    await until(() => load.attempts.length > sentMeanwhile + 100, 30_000)
    await load.stop()

    expect(load.attempts.filter((one) => !isServed(one)).map(inWords)).toEqual([])
    judge(load.attempts, await submitted(key, `2782${digit}`))
    const refused = load.attempts.filter(({ status }) => status === 503).length
    process.stdout.write(`${name}: ${load.attempts.length} requests over 6 restarts, ${refused} told to come again\n`)
  }, 300_000)

  test('an instance of each interface that is killed: no message is accepted twice, and Retry-After comes only if nothing was done', async () => {
    const proxy = proxied.proxy(name)
    const { key } = await proxied.newAccount(granted)
    const load = keepSending(proxy, key, `2783${digit}`, 16)
    await until(() => load.attempts.length > 100, 30_000)
    for (const by of interfaces) {
      const [first] = proxied.instancesOf(by)
      await first?.stop('SIGKILL')
      const killedAt = load.attempts.length
      await until(() => load.attempts.length > killedAt + 100, 30_000)
      await first?.start()
      if (first !== undefined) await proxy.putBack(first)
    }
    await load.stop()
    judge(load.attempts, await submitted(key, `2783${digit}`))
    const lost = load.attempts.filter((one) => !isServed(one))
    // Only those that were under way in the process that was killed.
    expect(lost.length).toBeLessThanOrEqual(3 * 16)
    process.stdout.write(
      `${name}: ${load.attempts.length} requests over 3 kills, ${lost.length} without an answer that tells\n`,
    )
  }, 300_000)

  test('no instance of an interface is there: 503 with Retry-After in words of the interface', async () => {
    const proxy = proxied.proxy(name)
    const { key } = await proxied.newAccount(granted)
    const ask = askOver(proxy, false)
    await Promise.all(proxied.instances.map((one) => one.stop('SIGKILL')))
    try {
      for (const by of interfaces) {
        const one = await attempt(by, { url: proxy.url, key }, secret.number, ask)
        expect([by, one.status, one.retryAfter, one.text]).toEqual([
          by,
          503,
          '1',
          expect.stringMatching(unavailable[by]),
        ])
      }
      const replies = await ask(`${proxy.url}/api/xmlgetreplies.asp`, { method: 'POST', body: '<Svc_Replies/>' })
      expect(await replies.text()).toMatch(
        /<XMLGateway_Replies><Error>Service unavailable<\/Error><\/XMLGateway_Replies>$/,
      )
    } finally {
      await Promise.all(proxied.instances.map((one) => one.start()))
      for (const one of proxied.instances) await proxy.putBack(one)
    }
  }, 120_000)

  test('an instance that answers nothing sensible or goes in the middle of a request: nothing of it is in a log', async () => {
    const proxy = proxied.proxy(name)
    const { key } = await proxied.newAccount(granted)
    const path = `/api/batchmessage.asp?apikey=${key}&numbers=${secret.number}&message=${secret.text}`
    const requests = [
      `GET ${path} HTTP/1.1\r\n`,
      `GET ${path} HTTP/9.9\r\nHost: x\r\n\r\n`,
      `GET ${path}\0 HTTP/1.1\r\nHost: x\r\n\r\n`,
      `${secret.text} ${key} ${secret.number}\r\n\r\n`,
      `GET /api/batchmessage.asp%3Fapikey=${key} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      `GET /api/credits.asp;${key} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      `GET https://localhost${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      `GET /api/credits.asp HTTP/1.1\r\nHost: ${key}/\r\nReferer: ${path}\r\nUser-Agent: ${key}\r\nConnection: close\r\n\r\n`,
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n${secret.text}`,
      `POST /api/rest/v1/sms/outgoing/send HTTP/1.1\r\nHost: x\r\nAuthorization: ${key}\r\nContent-Length: 50000\r\n\r\n${secret.text}`,
    ]
    for (const request of requests) {
      const client = rawTls(proxy, request)
      await until(() => client.received() > 0 || client.closed() || client.socket.bytesWritten > 0, 20_000)
      await delay(50)
      client.reset()
    }
    const [first, second] = proxied.instancesOf('asp')
    // Both hold what they are asked, and end with it.
    for (const one of [first, second]) process.kill(one?.process().pid ?? 0, 'SIGSTOP')
    const asked = Array.from({ length: 4 }, () => askOver(proxy, false)(proxy.url + path, {}).catch(() => undefined))
    await delay(300)
    await Promise.all([first?.stop('SIGKILL'), second?.stop('SIGKILL')])
    const answers = await Promise.all(asked)
    expect(answers.map((answer) => [answer?.status, answer?.headers.get('retry-after')])).toEqual(
      Array.from({ length: 4 }, () => [503, null]),
    )
    await Promise.all([first?.start(), second?.start()])
    for (const one of proxied.instancesOf('asp')) await proxy.putBack(one)
    const logs = proxied.logs()
    expect(logs).toMatch(/GET \/api\/batchmessage\.asp/)
    expect(proxied.secrets.filter((each) => logs.includes(each))).toEqual([])
  }, 120_000)
})
