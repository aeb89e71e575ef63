import { setTimeout as delay } from 'node:timers/promises'
import { postgresPorts } from '@gateway/adapters-postgres'
import type { Msisdn } from '@gateway/core/messages'
import { defaultEventTypes, type WebhookClient, type WebhookId } from '@gateway/core/webhooks'
import { anAccount, memorySecretBox, numbers, realClock, until } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { startPushing } from '../apps/dispatcher/src/push.ts'
import { patientSettings } from '../packages/adapters-postgres/testing/patient-settings.ts'
import { webhookClient } from '../packages/adapters-webhooks/src/index.ts'
import { startReceiver, type ReceiverMode } from '../packages/adapters-webhooks/testing/receiver.ts'
import { createLog } from '../packages/server/src/index.ts'
import { quantile } from './support/attempts.ts'
import { startDistantReceiver } from './support/distant-receiver.ts'
import { copyCluster, dataFolder } from './support/process.ts'

const modes = ['error', 'slow-headers', 'slow-body', 'endless-body', 'gzip-bomb', 'close', 'redirect'] as const

/**
 * Largest tolerated effect of a bad endpoint on the good one: a fifth more time, or half the duration of a slow answer,
 * which a busy machine may add by itself.
 */
const grownMax = 1.2
const floorMilliseconds = 125

const perWindow = 100
const atOnce = 4
const pauseMilliseconds = 5
/** Milliseconds that the gateway waits for a slow answer. */
const totalMilliseconds = 250
const windowsMin = 3
/**
 * Maximum number of measured windows. With more windows, a window that is slow by chance has less effect. A delivery
 * that the bad endpoint blocks is slow in every window.
 */
const windowsMax = 11

interface Pair {
  readonly alone: number
  readonly beside: number
}

const isApart = (pairs: readonly Pair[]): boolean => {
  const alone = quantile(
    pairs.map((pair) => pair.alone),
    0.5,
  )
  // An obstacle delays deliveries in every window, but other load does so only in some. The fastest window therefore
  // counts.
  const beside = Math.min(...pairs.map((pair) => pair.beside))
  return beside <= Math.max(alone * grownMax, alone + floorMilliseconds)
}

/** Creates two endpoints of one account, and measures deliveries to the good one while the other one is bad. */
async function twoEndpoints(around = (client: WebhookClient): WebhookClient => client) {
  const data = await dataFolder()
  const cluster = `${data.path}/db`
  await copyCluster(cluster)
  const database = await startEmbeddedPostgres({ dataDir: cluster })
  const { ports, close } = postgresPorts({ connectionString: database.connectionString, settings: patientSettings })
  const received = new Map<string, number>()
  const good = await startReceiver({ onRequest: ({ body }) => arrived(body) })
  const bad = await startDistantReceiver()
  const secretBox = memorySecretBox()
  const clock = realClock()
  const pushing = startPushing({
    ports: {
      webhooks: ports.webhooks,
      webhookClient: around(webhookClient({ http: true, allow: ['127.0.0.0/8'], totalMilliseconds })),
      secretBox,
      clock,
    },
    log: createLog({ level: 'silent', name: 'test' }),
  })
  const { id: account } = await anAccount(ports)
  const unused = numbers(100_000)
  let used = 0
  await add(good.url)
  const badId = await add(bad.url)
  await pause()

  async function add(url: string): Promise<WebhookId> {
    const secret = secretBox.seal(secretBox.newSigningSecret())
    const events = defaultEventTypes
    const one = await ports.webhooks.add({ account, url, events, listSize: 10, withText: false, secret }, clock.now())
    if (typeof one === 'string') throw new Error(one)
    return one.id
  }
  function arrived(body: string): void {
    for (const [, number = ''] of body.matchAll(/"mobileNumber":"(\d+)"/g))
      if (!received.has(number)) received.set(number, performance.now())
  }
  async function pause(): Promise<void> {
    await ports.webhooks.change(account, badId, { state: 'paused' }, clock.now())
    await until(() => pushing.requests() === 0)
  }
  async function stored(number: Msisdn): Promise<readonly [string, number]> {
    await ports.suppressions.add({ scope: account, number, kind: 'opt-out', since: clock.now() })
    return [number, performance.now()]
  }
  /**
   * Stores one window of events. Returns the 99th percentile of the time from storing an event to its arrival, in
   * milliseconds.
   */
  async function window(): Promise<number> {
    const storing: Promise<readonly [string, number]>[] = []
    while (storing.length < perWindow) {
      storing.push(...unused.slice(used, (used += atOnce)).map(stored))
      await delay(pauseMilliseconds)
    }
    const events = await Promise.all(storing)
    await until(() => events.every(([number]) => received.has(number)))
    const latencies = events.map(([number, at]) => Math.max(0, (received.get(number) ?? NaN) - at))
    return quantile(latencies, 0.99)
  }
  return {
    pair: async (mode: ReceiverMode): Promise<Pair> => {
      const alone = await window()
      await bad.become(mode)
      await ports.webhooks.change(account, badId, { state: 'active' }, clock.now())
      const before = bad.requests()
      const beside = await window()
      await until(() => bad.requests() > before)
      await pause()
      return { alone, beside }
    },
    close: async () => {
      await pushing.stop(5)
      await close()
      await Promise.all([good.close(), bad.close()])
      await database.stop()
      await removeCluster(cluster)
      await data.remove()
    },
  }
}

/** Measures pairs of windows until the verdict is positive, or until `windowsMax` pairs have been measured. */
async function pairsOf(of: (mode: ReceiverMode) => Promise<Pair>, mode: ReceiverMode): Promise<readonly Pair[]> {
  const pairs: Pair[] = []
  while (pairs.length < windowsMin || (!isApart(pairs) && pairs.length < windowsMax)) pairs.push(await of(mode))
  return pairs
}

test('a bad endpoint of any kind delays no event of another endpoint of its account', async () => {
  const { pair, close } = await twoEndpoints()
  const late: Partial<Record<ReceiverMode, readonly Pair[]>> = {}
  for (const mode of modes) {
    const pairs = await pairsOf(pair, mode)
    if (!isApart(pairs)) late[mode] = pairs
  }
  await close()
  expect(late).toEqual({})
}, 120_000)

test('these time windows detect requests that wait for each other', async () => {
  const oneAtATime = (client: WebhookClient): WebhookClient => {
    let before: Promise<unknown> = Promise.resolve()
    return {
      ...client,
      push: (request) => {
        const answer = before.then(() => client.push(request))
        before = answer
        return answer
      },
    }
  }
  const { pair, close } = await twoEndpoints(oneAtATime)
  const pairs = [await pair('slow-headers')]
  await close()
  expect(isApart(pairs)).toBe(false)
}, 120_000)
