import { Agent } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { until } from '@gateway/core/testing'
import { attempt, interfaces, unavailable, type Attempt } from './support/attempts.ts'
import { restBalance } from './support/clients.ts'
import type { Instance } from './support/pairs.ts'
import { secret, startProxied, type Proxied } from './support/proxied.ts'
import { proxyNames, whyNoProxies, type Proxy, type ProxyName } from './support/proxies.ts'
import { submissions } from './support/record.ts'
import { askOver, rawTls } from './support/tls-clients.ts'

// Restarts, kills and removes all instances behind the documented proxies while clients send through each proxy.
const why = whyNoProxies()
if (why !== undefined)
  process.stderr.write(`NOTICE: restarts behind the documented proxies are not tested here: ${why}\n`)
const describeProxies = why === undefined ? describe : describe.skip

const granted = 100_000
/**
 * Milliseconds between two requests of a lane. With this pause some requests are always unanswered, and the machine has
 * time for other work.
 */
const pauseMilliseconds = 300
/**
 * Milliseconds between two requests of a lane in calm periods, in which an instance without new requests drains or
 * starts.
 */
const calmPauseMilliseconds = 800
let proxied: Proxied
let stop = (): Promise<void> => Promise.resolve()

if (why === undefined) {
  beforeAll(async () => {
    proxied = await startProxied({ DRAIN_SECONDS: '4' })
    stop = proxied.stop
  }, 180_000)
  afterAll(() => stop(), 120_000)
}

/**
 * Sends continuously over this many lanes, to a different number each time. Behind HAProxy, half of the lanes keep
 * their connection.
 */
function keepSending(proxy: Proxy, key: string, prefix: string, lanes: number) {
  const attempts: Attempt[] = []
  const state = { over: false, begun: 0, waiting: 0, pause: pauseMilliseconds }
  const keeping = new Agent({ keepAlive: true, ca: proxy.ca })
  // Keeps connections to HAProxy only, because a reload of nginx closes idle connections of clients, as its
  // documentation says.
  const asks = [askOver(proxy, false), askOver(proxy, proxy.name === 'haproxy' ? keeping : false)]
  const lane = async (at: number): Promise<void> => {
    while (!state.over) {
      const turn = state.begun++
      const number = `${prefix}${String(turn).padStart(4, '0')}01`
      const by = interfaces[turn % 3] ?? 'rest'
      state.waiting++
      attempts.push(await attempt(by, { url: proxy.url, key }, number, asks[at % 2]))
      state.waiting--
      await delay(state.pause)
    }
  }
  const running = Array.from({ length: lanes }, (_, at) => lane(at))
  return {
    attempts,
    /** Returns true if each lane waits for an answer. */
    waits: () => state.waiting === lanes,
    /** Uses another pause until `during` is over. */
    paced: async (milliseconds: number, during: () => Promise<unknown>) => {
      state.pause = milliseconds
      await during().finally(() => (state.pause = pauseMilliseconds))
    },
    stop: async () => {
      state.over = true
      await Promise.all(running)
      keeping.destroy()
    },
  }
}

/** Returns the number of submissions of each number. Waits until all charged messages have been submitted. */
async function submitted(key: string, prefix: string): Promise<ReadonlyMap<string, number>> {
  const charged = granted - (await restBalance(proxied.directly('rest', key)))
  const ours = async () => (await submissions(proxied.folder)).filter(({ number }) => number.startsWith(prefix))
  await until(async () => (await ours()).length >= charged, 60_000)
  const times = new Map<string, number>()
  for (const { number } of await ours()) times.set(number, (times.get(number) ?? 0) + 1)
  return times
}

/**
 * Asserts that each send that was answered 200 is stored once, that no send is stored twice, and that no send that was
 * answered with Retry-After is stored.
 */
function judge(attempts: readonly Attempt[], times: ReadonlyMap<string, number>): void {
  const storedTimes = ({ number }: Attempt) => times.get(number) ?? 0
  const [answered, refusals] = [attempts.filter(({ status }) => status === 200), attempts.filter(saysComeAgain)]
  expect(answered.filter((one) => one.id === undefined || storedTimes(one) !== 1).map(inWords)).toEqual([])
  expect(attempts.filter((one) => storedTimes(one) > 1).map(inWords)).toEqual([])
  expect(refusals.filter((one) => storedTimes(one) !== 0).map(inWords)).toEqual([])
}

const inWords = ({ by, number, status, retryAfter, text }: Attempt): string =>
  `${by} ${number}: ${status}, Retry-After ${retryAfter ?? 'not given'}, ${text}`
const saysComeAgain = ({ status, retryAfter }: Attempt): boolean => status === 503 && retryAfter !== null
const isServed = (one: Attempt): boolean => one.status === 200 || saysComeAgain(one)

type Load = ReturnType<typeof keepSending>

/** Sends continuously through each proxy, with an account of its own. */
async function keepSendingThroughEach(prefix: string, lanes: number) {
  const loads = new Map<ProxyName, { readonly load: Load; readonly times: () => ReturnType<typeof submitted> }>()
  for (const [i, name] of proxyNames.entries()) {
    const [{ key }, own] = [await proxied.newAccount(granted), `${prefix}${i + 1}`]
    loads.set(name, { load: keepSending(proxied.proxy(name), key, own, lanes), times: () => submitted(key, own) })
  }
  const all = [...loads.values()]
  return {
    /** Waits until each proxy has received this many more requests. */
    asked: async (times: number) => {
      const before = all.map(({ load }) => load.attempts.length)
      await until(() => all.every(({ load }, i) => load.attempts.length > (before[i] ?? 0) + times), 30_000)
    },
    wait: () => until(() => all.every(({ load }) => load.waits()), 30_000),
    paced: async (milliseconds: number, during: () => Promise<unknown>) => {
      const over = during()
      await Promise.all(all.map(({ load }) => load.paced(milliseconds, () => over)))
    },
    stop: () => Promise.all(all.map(({ load }) => load.stop())),
    /** Returns the requests through a proxy and the submissions of each number. Throws if a promise was broken. */
    judged: async (name: ProxyName) => {
      const { load, times: count } = loads.get(name) ?? {}
      const [attempts, times] = [load?.attempts ?? [], (await count?.()) ?? new Map<string, number>()]
      judge(attempts, times)
      return { attempts, times }
    },
  }
}

/**
 * Blocks the acceptance of messages in the database. A process that is stopped meanwhile has sent its statements and
 * has answered no client.
 */
async function whileNothingIsStored<T>(during: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: proxied.environment['DATABASE_URL'] })
  await client.connect()
  try {
    await client.query('begin; lock table send in exclusive mode')
    return await during()
  } finally {
    await client.end()
  }
}

const ofEachProxy = <T>(action: (proxy: Proxy) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(proxyNames.map((name) => action(proxied.proxy(name))))

const isReady = (instance: Instance): Promise<boolean> =>
  fetch(`${instance.process().url}/health/ready`).then(
    ({ status }) => status === 200,
    () => false,
  )

async function restart(instance: Instance, loads: Awaited<ReturnType<typeof keepSendingThroughEach>>): Promise<void> {
  await ofEachProxy((proxy) => proxy.takeOut(instance))
  // The process has unanswered requests when it receives its signal.
  const { stopped } = await whileNothingIsStored(async () => {
    await loads.wait()
    const stopped = instance.stop()
    await until(async () => !(await isReady(instance)), 20_000)
    return { stopped }
  })
  await ofEachProxy((proxy) => proxy.isOut(instance))
  // Lasts for only a part of the 4 s of draining, so that the load is full again when the process ends.
  await loads.paced(calmPauseMilliseconds, () => Promise.race([delay(1_500), stopped]))
  expect(await stopped).toBe(0)
  await loads.paced(calmPauseMilliseconds, async () => {
    await instance.start()
    await until(() => isReady(instance), 20_000)
  })
  await ofEachProxy((proxy) => proxy.putBack(instance))
}

/** Returns one of the two instances of an interface. */
function firstOf(by: (typeof interfaces)[number]): Instance {
  const [first] = proxied.instancesOf(by)
  if (first === undefined) throw new Error(`nothing serves ${by}`)
  return first
}

describeProxies(proxyNames.join(' and '), () => {
  test('a rolling restart loses no request, and no message is accepted twice', async () => {
    const loads = await keepSendingThroughEach('2782', 6)
    await loads.asked(25)
    for (const by of interfaces) await restart(firstOf(by), loads)
    await loads.asked(25)
    await loads.stop()

    for (const name of proxyNames) {
      const { attempts } = await loads.judged(name)
      expect(attempts.filter((one) => !isServed(one)).map(inWords)).toEqual([])
      const refused = attempts.filter(({ status }) => status === 503).length
      process.stdout.write(`${name}: ${attempts.length} requests over 3 restarts, ${refused} told to come again\n`)
    }
  }, 300_000)

  test('an instance of each interface that is killed: no message is accepted twice, and Retry-After comes only if nothing was done', async () => {
    const lanes = 8
    const loads = await keepSendingThroughEach('2783', lanes)
    await loads.asked(25)
    for (const by of interfaces) {
      const first = firstOf(by)
      await whileNothingIsStored(async () => {
        await loads.wait()
        await first.stop('SIGKILL')
      })
      await loads.asked(25)
      await first.start()
      await ofEachProxy((proxy) => proxy.putBack(first))
    }
    await loads.stop()
    let storedUnknown = 0
    for (const name of proxyNames) {
      const { attempts, times } = await loads.judged(name)
      const lost = attempts.filter((one) => !isServed(one))
      // Only requests that were unanswered in the killed process are lost: at most one per lane and kill.
      expect(lost.length).toBeLessThanOrEqual(3 * lanes)
      storedUnknown += lost.filter(({ number }) => times.has(number)).length
      process.stdout.write(
        `${name}: ${attempts.length} requests over 3 kills, ${lost.length} without an answer that tells\n`,
      )
    }
    // At least one lost request was stored. If the proxy repeated lost requests, such a request would be stored twice.
    expect(storedUnknown).toBeGreaterThan(0)
  }, 300_000)

  test('without an instance of an interface the answer is 503 with Retry-After in the form of the interface', async () => {
    const { key } = await proxied.newAccount(granted)
    await Promise.all(proxied.instances.map((one) => one.stop('SIGKILL')))
    try {
      for (const name of proxyNames) {
        const proxy = proxied.proxy(name)
        const ask = askOver(proxy, false)
        for (const by of interfaces) {
          const one = await attempt(by, { url: proxy.url, key }, secret.number, ask)
          expect([name, by, one.status, one.retryAfter, one.text]).toEqual([
            name,
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
      }
    } finally {
      await Promise.all(proxied.instances.map((one) => one.start()))
      for (const one of proxied.instances) await ofEachProxy((proxy) => proxy.putBack(one))
    }
  }, 120_000)

  test('nothing of a request is logged if an instance answers nonsense or stops in the middle', async () => {
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
    await ofEachProxy(async (proxy) => {
      for (const request of requests) {
        const client = rawTls(proxy, request)
        await until(() => client.received() > 0 || client.closed() || client.socket.bytesWritten > 0, 20_000)
        await delay(50)
        client.reset()
      }
    })
    const [first, second] = proxied.instancesOf('asp')
    // Both instances hold their requests unanswered until they are killed.
    for (const one of [first, second]) process.kill(one?.process().pid ?? 0, 'SIGSTOP')
    const responses = ofEachProxy((proxy) =>
      Promise.all(Array.from({ length: 4 }, () => askOver(proxy, false)(proxy.url + path, {}).catch(() => undefined))),
    )
    await delay(300)
    await Promise.all([first?.stop('SIGKILL'), second?.stop('SIGKILL')])
    const answers = (await responses).map((some) =>
      some.map((answer) => [answer?.status, answer?.headers.get('retry-after')]),
    )
    expect(answers).toEqual(proxyNames.map(() => Array.from({ length: 4 }, () => [503, null])))
    await Promise.all([first?.start(), second?.start()])
    for (const one of proxied.instancesOf('asp')) await ofEachProxy((proxy) => proxy.putBack(one))
    const logs = proxied.logs()
    expect(logs).toMatch(/GET \/api\/batchmessage\.asp/)
    expect(proxied.secrets.filter((each) => logs.includes(each))).toEqual([])
  }, 120_000)
})
