import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { simulatedCarrier } from '@gateway/adapters-simulator'
import type { Ports } from '@gateway/core'
import type { DispatcherSettings } from '@gateway/core/dispatch'
import { OUTCOME, type MessageId } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { anAccount, anOrder, memoryPorts, numbers, scriptedCarrier, until } from '@gateway/core/testing'
import { createLog, createMetrics, listen, type Log } from '@gateway/server'
import { measureDispatching } from './dispatch-metrics.ts'
import { startDispatching, type Dispatching, type DispatchSettings } from './dispatch.ts'
import { createDispatcherServer, makesProgress } from './health.ts'

const started: Dispatching[] = []
const folders: string[] = []

afterEach(async () => {
  await Promise.all(started.splice(0).map((dispatching) => dispatching.stop(5)))
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })))
})

const silent = createLog({ level: 'silent', name: 'test' })

function listeningLog(): { log: Log; lines: { level: string; msg: string; what?: string }[] } {
  const lines: { level: string; msg: string; what?: string }[] = []
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as (typeof lines)[number])
      done()
    },
  })
  return { log: createLog({ level: 'info', name: 'test', destination }), lines }
}

function start(ports: DispatchSettings['ports'], rest: Partial<DispatchSettings>): Dispatching {
  const settings: Partial<DispatcherSettings> = { retrySeconds: 0.05, ...rest.settings }
  const dispatching = startDispatching({
    ports,
    carriers: [],
    log: silent,
    poll: { pauseMilliseconds: 5 },
    ...rest,
    settings,
  })
  started.push(dispatching)
  return dispatching
}

/** Creates a simulated carrier without delay, and its record. */
async function aSimulator(folder?: string) {
  const place = folder ?? (await mkdtemp(join(tmpdir(), 'dispatch-')))
  if (folder === undefined) folders.push(place)
  return { carrier: simulatedCarrier({ folder: place, delayMilliseconds: 0 }), folder: place }
}

async function aSender() {
  const ports = memoryPorts()
  const { id } = await anAccount(ports, { credits: 100_000 })
  return {
    ports,
    send: async (count: number, ending = '00') => {
      const accepted = await ports.messages.accept(anOrder(id, { to: numbers(count, ending) }))
      if (typeof accepted !== 'object') throw new Error(accepted)
      return accepted.results.flat() as readonly MessageId[]
    },
    codes: async (ids: readonly MessageId[]) =>
      (await ports.messages.status(id, ids, instant(0))).map((s) => (typeof s === 'string' ? s : s.code)),
  }
}

const metricsText = (metrics: ReturnType<typeof createMetrics>): Promise<string> => metrics.registry.metrics()

test('every outcome of the simulated carrier leads to the state that the rulings define', async () => {
  const { ports, send, codes } = await aSender()
  const { carrier } = await aSimulator()
  start(ports, { carriers: [carrier] })
  const outcomes: readonly (readonly [ending: string, code: number])[] = [
    ['90', OUTCOME.undeliverable],
    ['91', OUTCOME.expired],
    ['92', OUTCOME.rejected],
    ['93', OUTCOME.refused],
    ['94', OUTCOME.sent],
    ['95', OUTCOME.unknown],
    ['96', OUTCOME.delivered],
    ['97', OUTCOME.delivered],
    ['98', OUTCOME.delivered],
    ['00', OUTCOME.delivered],
  ]
  const sent = await Promise.all(
    outcomes.flatMap(([ending, code]) => [1, 20].map(async (count) => ({ code, ids: await send(count, ending) }))),
  )
  await until(
    async () =>
      (await Promise.all(sent.map(async ({ code, ids }) => (await codes(ids)).every((c) => c === code)))).every(
        Boolean,
      ),
    20_000,
  )
})

test('a stop waits for answers and gives unsent messages back, which another dispatcher sends', async () => {
  const { ports, send, codes } = await aSender()
  const first = scriptedCarrier({ window: 4, outcomeOf: () => 'held' })
  const dispatching = start(ports, { carriers: [first] })
  const ids = await send(50)
  await until(() => first.unanswered.length === 3)
  const stopped = dispatching.stop(20)
  first.release('accepted')
  await stopped
  expect((await codes(ids)).filter((code) => code === OUTCOME.sent)).toHaveLength(3)
  expect((await codes(ids)).filter((code) => code === 'waiting')).toHaveLength(47)
  const second = scriptedCarrier()
  start(ports, { carriers: [second] })
  await until(() => second.submitted.length === 47)
})

test('a stop ends at its deadline whatever the carrier does, and outstanding submissions become 106', async () => {
  const { ports, send, codes } = await aSender()
  const carrier = scriptedCarrier({ window: 4, outcomeOf: () => 'held' })
  const dispatching = start(ports, { carriers: [carrier] })
  const ids = await send(5)
  await until(() => carrier.unanswered.length > 0)
  const outstanding = carrier.unanswered.length
  await dispatching.stop(0.05)
  expect((await codes(ids)).filter((code) => code === OUTCOME.unknown)).toHaveLength(outstanding)
  expect((await codes(ids)).filter((code) => code === 'waiting')).toHaveLength(5 - outstanding)
})

/**
 * Wraps the ports so that calls fail while `isAway` returns 'before' or 'after': before or after they have done their
 * work. Registering a sleeper is not a call of the store and never fails.
 */
function unreliable(ports: Ports, isAway: () => 'before' | 'after' | undefined): DispatchSettings['ports'] {
  const wrap = <P extends object>(port: P): P =>
    new Proxy(port, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>
        if (name === 'sleeper') return method
        return async (...args: unknown[]) => {
          if (isAway() === 'before') throw new Error('the store is away')
          const result: unknown = await method(...args)
          if (isAway() === 'after') throw new Error('the answer was lost')
          return result
        }
      },
    })
  return { ...ports, claimedBatches: wrap(ports.claimedBatches), deliveryReceipts: wrap(ports.deliveryReceipts) }
}

test.each(['before', 'after'] as const)(
  'an outage of the store (%s its work) heals by itself, loses nothing, submits nothing twice, and is logged once',
  async (when) => {
    const { ports, send, codes } = await aSender()
    const { log, lines } = listeningLog()
    const carrier = scriptedCarrier()
    let away: typeof when | undefined
    start(
      unreliable(ports, () => away),
      { carriers: [carrier], log, settings: { leaseSeconds: 2, inDoubtMax: 20 } },
    )
    const ids = [...(await send(300)), ...(await send(3))]
    await until(() => carrier.submitted.length > 50)
    away = when
    await until(() => lines.length >= 4)
    const before = carrier.submitted.length
    for (let i = 0; i < 50; i++) carrier.release('accepted')
    away = undefined
    await until(async () => (await codes(ids)).every((code) => code !== 'waiting'), 20_000)
    await until(async () => (await codes(ids)).every((code) => code === OUTCOME.delivered))
    expect(new Set(carrier.submitted.map(({ id }) => id)).size).toBe(carrier.submitted.length)
    expect(carrier.submitted.length).toBeGreaterThanOrEqual(before)
    const failures = lines.filter(({ level }) => level === 'error').map((line) => line.what)
    expect(new Set(failures).size).toBe(failures.length)
  },
)

test('wake ends the pause of an empty queue', async () => {
  const { ports, send } = await aSender()
  const carrier = scriptedCarrier()
  const dispatching = start(ports, { carriers: [carrier], poll: { pauseMilliseconds: 3_600_000 } })
  await until(() => Object.keys(dispatching.state()).length === 1)
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  const [id] = await send(1)
  dispatching.wake()
  await until(() => carrier.submitted.length === 1)
  expect(carrier.submitted[0]?.id).toBe(id)
})

/** Wraps the ports to count how often the process falls asleep. If `isHeard` is false, sleepers are never woken. */
function watchedSleep(ports: Ports, isHeard = true) {
  let slept = 0
  const sleeper: Ports['claimedBatches']['sleeper'] = (wake) => {
    const one = ports.claimedBatches.sleeper(isHeard ? wake : () => undefined)
    return { ...one, sleep: () => one.sleep().finally(() => slept++) }
  }
  return { ports: { ...ports, claimedBatches: { ...ports.claimedBatches, sleeper } }, slept: () => slept }
}

const drowsy = { pauseMilliseconds: 5, quietMilliseconds: 10 }

test('a dispatcher asleep for an hour submits messages that another process accepts, in either lane, or that become due', async () => {
  const { ports, send } = await aSender()
  const watched = watchedSleep(ports)
  const carrier = scriptedCarrier()
  start(watched.ports, { carriers: [carrier], poll: { ...drowsy, pauseMillisecondsMax: 3_600_000 } })
  let submitted = 0
  for (const count of [1, 20, 1]) {
    const before = watched.slept()
    await until(() => watched.slept() > before)
    await send(count)
    submitted += count
    await until(() => carrier.submitted.length === submitted)
  }
  const { id } = await anAccount(ports)
  const before = watched.slept()
  await until(() => watched.slept() > before)
  await ports.messages.accept(anOrder(id, { to: numbers(1), due: instant(Date.now() + 300) }))
  await until(() => carrier.submitted.length === submitted + 1)
})

test('a sleeper that is not woken finds messages after its longest pause', async () => {
  const { ports, send } = await aSender()
  const watched = watchedSleep(ports, false)
  const carrier = scriptedCarrier()
  start(watched.ports, { carriers: [carrier], poll: { ...drowsy, pauseMillisecondsMax: 100 } })
  await until(() => watched.slept() > 0)
  await send(20)
  await until(() => carrier.submitted.length === 20)
})

test('messages of a dead dispatcher are taken over, which is logged', async () => {
  const { ports, send, codes } = await aSender()
  const dead = await ports.claimedBatches.register(0.01)
  const ids = await send(30)
  const { carrier } = await aSimulator()
  await ports.claimedBatches.claim(dead, {
    carrier: carrier.id,
    lane: 'bulk',
    messagesMax: 20,
    markedMax: 5,
    leaseSeconds: 0.01,
  })
  const { log, lines } = listeningLog()
  const dispatching = start(ports, { carriers: [carrier], log, settings: { leaseSeconds: 0.2 } })
  await until(async () => (await codes(ids)).every((code) => code !== 'waiting'))
  await until(async () => (await codes(ids)).filter((code) => code === OUTCOME.delivered).length === 25)
  expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', requeued: 15, unknown: 5 }))
  expect(dispatching.unknown()).toEqual({ answer: 0, recovery: 5 })
  const metrics = createMetrics()
  measureDispatching(metrics, dispatching)
  expect(await metricsText(metrics)).toContain('gateway_unknown_outcomes_total{cause="recovery"} 5\n')
})

test('a stall while the store answers is logged once, and shows in readiness and metrics until it ends', async () => {
  const { ports, send, codes } = await aSender()
  const { log, lines } = listeningLog()
  let isBroken = true
  const record: Ports['claimedBatches']['record'] = (...args) =>
    isBroken ? Promise.reject(new Error('this batch cannot be stored')) : ports.claimedBatches.record(...args)
  const dispatching = start(
    { ...ports, claimedBatches: { ...ports.claimedBatches, record } },
    { carriers: [scriptedCarrier()], log, settings: { stallSeconds: 2, leaseSeconds: 4 } },
  )
  const metrics = createMetrics()
  measureDispatching(metrics, dispatching)
  expect(makesProgress(dispatching)).toBe(true)
  const ids = await send(5)
  await until(() => !makesProgress(dispatching), 20_000)
  await until(() => lines.some(({ msg }) => msg === 'the dispatcher makes no progress'))
  expect(await metricsText(metrics)).toContain('gateway_dispatcher_stalled{carrier="scripted",work="outcomes"} 1\n')
  isBroken = false
  await until(async () => (await codes(ids)).every((code) => code === OUTCOME.delivered))
  await until(() => makesProgress(dispatching))
  await until(() => lines.some(({ msg }) => msg === 'the dispatcher makes progress again'))
  expect(await metricsText(metrics)).toContain('gateway_dispatcher_stalled{carrier="scripted",work="outcomes"} 0\n')
  const stalls = lines.filter(({ msg }) => msg.startsWith('the dispatcher makes'))
  expect(stalls).toMatchObject([{ level: 'error', carrier: 'scripted', stalled: ['outcomes'] }, { level: 'warn' }])
})

test('health and metrics over HTTP report the messages in the dispatcher and the answers', async () => {
  const { ports, send, codes } = await aSender()
  const { carrier } = await aSimulator()
  const dispatching = start(ports, { carriers: [carrier] })
  const [refused, delivered] = [await send(2, '93'), await send(3)]
  await send(2, '94')
  const answering = await send(2, '88')
  await until(() => dispatching.inboundMessages()['simulator']?.stored === answering.length)
  await until(async () => [...(await codes(refused)), ...(await codes(delivered))].every((code) => code !== 'waiting'))
  const metrics = createMetrics()
  measureDispatching(metrics, dispatching)
  let isReady = false
  const app = createDispatcherServer({
    clock: ports.clock,
    log: silent,
    metrics,
    health: { checks: { database: () => Promise.resolve(isReady) } },
  })
  const server = await listen({ app, host: '127.0.0.1', port: 0, log: silent })
  try {
    const get = (path: string) => fetch(server.url + path)
    expect((await get('/health/live')).status).toBe(200)
    expect((await get('/health/ready')).status).toBe(503)
    isReady = true
    await until(async () => (await get('/health/ready')).status === 200)
    await get('/metrics')
    const text = await (await get('/metrics')).text()
    expect(text).toContain('# TYPE gateway_dispatcher_messages gauge\n')
    expect(text).toContain('# TYPE gateway_carrier_answers_total counter\n')
    expect(text).toContain('# TYPE gateway_arrivals_total counter\n')
    expect(text).toContain('gateway_dispatcher_messages{carrier="simulator",state="inDoubt"} 0')
    expect(text).toContain('gateway_carrier_answers_total{carrier="simulator",outcome="accepted"} 7')
    expect(text).toContain('gateway_carrier_answers_total{carrier="simulator",outcome="refused"} 2')
    expect(text).toContain('gateway_arrivals_total{carrier="simulator",result="stored"} 2')
    expect((await get('/anything')).status).toBe(404)
  } finally {
    await server.close()
  }
})
