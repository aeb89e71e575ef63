import { setTimeout as delay } from 'node:timers/promises'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testChance, until } from '@gateway/core/testing'
import { measure, openAccount } from './support/accounts.ts'
import { attempt, interfaces, quantile, unavailable, type Attempt } from './support/attempts.ts'
import { restBalance, type Client } from './support/clients.ts'
import { startDatabase } from './support/database.ts'
import { operate } from './support/operate.ts'
import { dataFolder, killLeftovers, startApp } from './support/process.ts'

afterEach(killLeftovers)

/** For a stronger test by hand: `OVERLOAD_CLIENTS=400 OVERLOAD_SECONDS=10 OVERLOAD_PLACES=32`. */
const clients = Number(process.env['OVERLOAD_CLIENTS'] ?? 150)
const seconds = Number(process.env['OVERLOAD_SECONDS'] ?? 4)
/** Number of requests that a process handles concurrently. */
const places = Number(process.env['OVERLOAD_PLACES'] ?? 4)
const granted = 1_000_000

interface Load {
  readonly attempts: readonly Attempt[]
  /** Milliseconds from the answer to each accepted message until the message was submitted to the carrier. */
  readonly dispatched: readonly number[]
}

let numbers = 0
const chance = testChance()

/**
 * Runs this many clients. Each sends one message after another, and retries a refused message after a tenth of a
 * second.
 */
async function load(client: Client, count: number, folder: string): Promise<Load> {
  const attempts: Attempt[] = []
  const answeredAt = new Map<number, number>()
  const end = performance.now() + seconds * 1000
  const one = async (i: number): Promise<void> => {
    await delay(chance.between(0, 100))
    while (performance.now() < end) {
      const done = await attempt(interfaces[i % 3] ?? 'rest', client, `278${String(numbers++).padStart(6, '0')}01`)
      attempts.push(done)
      if (done.id === undefined) await delay(100)
      else answeredAt.set(done.id, Date.now())
    }
  }
  await Promise.all(Array.from({ length: count }, (_, i) => one(i)))
  const handedOver = await until(async () => {
    const found = await handOvers(folder)
    return [...answeredAt.keys()].every((id) => found.has(id)) && found
  }, 30_000)
  const dispatched = [...answeredAt].map(([id, at]) => Math.max(0, (handedOver.get(id) ?? Infinity) - at))
  return { attempts, dispatched }
}

/** Returns the time at which each message was handed to the simulated carrier, by the clock of the machine. */
async function handOvers(folder: string): Promise<ReadonlyMap<number, number>> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => /submissions[^/]*\.jsonl$/.test(file))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  const lines = texts.flatMap((text) => text.split('\n').filter((line) => line.endsWith('}')))
  return new Map(
    lines.map((line) => {
      const { messageId, time } = JSON.parse(line) as { messageId: number; time: string }
      return [messageId, Date.parse(time)]
    }),
  )
}

interface Spent {
  readonly requests: number
  readonly seconds: number
}

/** Returns the number and total duration of sends that the server has answered since its start, by its own metrics. */
async function spent({ url }: Client): Promise<Readonly<Record<'accepted' | 'refused', Spent>>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const sum = (metric: 'count' | 'sum', status: string) =>
    Array.from(
      text.matchAll(
        new RegExp(`^http_request_duration_seconds_${metric}\\{[^}]*status="${status}"[^}]*\\} (\\S+)$`, 'gm'),
      ),
      ([line, value]) => (/send/.test(line) || /batchmessage/.test(line) ? Number(value) : 0),
    ).reduce((all, one) => all + one, 0)
  const of = (status: string): Spent => ({ requests: sum('count', status), seconds: sum('sum', status) })
  return { accepted: of('200'), refused: of('503') }
}

/** Returns the milliseconds per request since `before`. */
const perRequest = (after: Spent, before: Spent = { requests: 0, seconds: 0 }): number =>
  ((after.seconds - before.seconds) * 1000) / (after.requests - before.requests)

const times = (attempts: readonly Attempt[]): string => {
  const all = attempts.map(({ milliseconds }) => milliseconds)
  return `half ${quantile(all, 0.5).toFixed()}, 99% ${quantile(all, 0.99).toFixed()}, all ${quantile(all, 1).toFixed()} ms`
}

test('far more clients than can be served: the excess is refused early and costs nothing, and accepted requests are as fast as before', async () => {
  const data = await dataFolder()
  const database = await startDatabase(`${data.path}/db`)
  try {
    const environment = {
      DATABASE_URL: database.connectionString,
      DATA_DIR: data.path,
      CARRIERS: 'simulator:?delayMs=10',
      REQUESTS_MAX: String(places),
    }
    const gateway = await startApp('all-in-one', environment)
    const { key } = await openAccount(environment, 'many', granted)
    const client = { url: gateway.url, key }
    const ofAccepted = ({ attempts }: Load) => attempts.filter(({ id }) => id !== undefined)

    const calm = await load(client, places, data.path)
    const calmAccepted = ofAccepted(calm)
    const calmSpent = await spent(client)
    expect(calmAccepted).toHaveLength(calm.attempts.length)
    const full = await load(client, clients, data.path)
    const accepted = ofAccepted(full)
    const fullSpent = await spent(client)
    const refused = full.attempts.filter(({ id }) => id === undefined)
    // The number of refusals depends on the machine, because slow clients send fewer requests.
    expect(refused.length).toBeGreaterThan(clients / 10)
    for (const { by, status, retryAfter, text } of refused) {
      expect({ by, status, retryAfter }).toEqual({ by, status: 503, retryAfter: '1' })
      expect(text).toMatch(unavailable[by])
    }
    console.log(
      [
        `${places} places, ${places} clients: ${calmAccepted.length} accepted (${times(calmAccepted)}), dispatched after ` +
          `half ${quantile(calm.dispatched, 0.5)}, 99% ${quantile(calm.dispatched, 0.99)} ms`,
        `${places} places, ${clients} clients: ${accepted.length} accepted (${times(accepted)}), dispatched after half ` +
          `${quantile(full.dispatched, 0.5)}, 99% ${quantile(full.dispatched, 0.99)} ms; ${refused.length} refused (${times(refused)})`,
      ].join('\n'),
    )
    // Measured by the server, from the headers of a request to the end of its answer, because a busy machine also
    // delays the clients.
    const [calmly, accepting, refusing] = [
      perRequest(calmSpent.accepted),
      perRequest(fullSpent.accepted, calmSpent.accepted),
      perRequest(fullSpent.refused, calmSpent.refused),
    ]
    console.log(
      `in the server: accepted ${calmly.toFixed(1)} ms before and ${accepting.toFixed(1)} ms under overload, refused ${refusing.toFixed(1)} ms`,
    )
    expect(refusing).toBeLessThan(accepting)
    expect(refusing).toBeLessThan(500)
    expect(accepting).toBeLessThan(calmly * 10 + 500)
    expect(accepted.length).toBeGreaterThan(0)
    expect(quantile(full.dispatched, 0.99)).toBeLessThan(quantile(calm.dispatched, 0.99) * 10 + 1000)

    const rows = await database.rows<{ number: string }>('select unnest(msisdns)::text as number from send')
    const expected = [...calmAccepted, ...accepted].map(({ number }) => number)
    expect(rows.map(({ number }) => number).toSorted()).toEqual(expected.toSorted())
    expect(await restBalance(client)).toBe(granted - expected.length)
    expect(await measure(gateway, 'gateway_requests_in_flight')).toBe(0)
    expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
    expect(gateway.output()).not.toMatch(/"level":"(?:error|fatal)"/)
    expect(await gateway.stop()).toBe(0)
  } finally {
    killLeftovers()
    await database.remove()
    await data.remove()
  }
}, 120_000)
