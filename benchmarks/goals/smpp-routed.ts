import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openAccounts } from '../environment/accounts.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import type { Database } from '../environment/postgres.ts'
import { latenciesOf, type Latencies } from '../loads/latencies.ts'
import type { Worker } from '../loads/workers.ts'
import { keysOf } from './accepting.ts'

const singlesPerSecond = 100
const goodAccounts = 20
const secondsMax = 300

/** Pattern of log lines about a carrier that does not answer. */
const silence = /carrier other: (the other side gave no sign of life|requests got no answer|.*closed|.*ECONN)/

/** Measurements over the healthy carrier. */
export interface RoutedRound {
  readonly accept: Latencies
  /** Milliseconds from each request until the carrier's answer was stored, which is later than the submission. */
  readonly answered: Latencies
  /** Bulk messages a second, measured from the first request to the last DELIVERED. */
  readonly perSecond: number
}

/** Gateway with two carriers, each with a route of its own. */
export interface Routed {
  /** Makes single sends over the healthy carrier, then bulk sends. */
  live(load: { readonly seconds: number; readonly bulk: number }): Promise<RoutedRound>
  /** Returns the number of messages of the other route that are not submitted yet. */
  waiting(): Promise<number>
  stop(): Promise<void>
}

/**
 * Starts a gateway with a database of its own and this number of messages waiting for the carrier `other`. The ports
 * are those of the carriers.
 */
export async function openRouted(
  environment: BenchmarkEnvironment,
  worker: Worker,
  { name, good, other, queued }: { name: string; good: number; other: number; queued: number },
): Promise<Routed> {
  const database = await environment.createDatabase()
  const rest = await environment.start('rest', {}, database)
  const [first, ...others] = await openAccounts(database, 1 + goodAccounts)
  if (first === undefined) throw new Error('there is no account')
  const file = join(environment.folder, `${name}.json`)
  await writeFile(file, configurationOf(name, { good, other, account: first.id }))
  const dispatcher = await environment.start('dispatcher', { CARRIERS: `file:${file}` }, database, silence)
  const { queue } = (await database.query<{ queue: number }>(goodQueue))[0] ?? {}
  const load = { url: rest.url, face: 'rest', connections: 4 } as const
  const toOther = { ...load, keys: [first.key], recipients: 1000, requests: queued / 1000 }
  if (queued > 0) await environment.sends(worker, toOther, true)
  const keys = keysOf(others)
  let accepted = 0
  let at = performance.now()

  const send = async (more: Omit<Parameters<BenchmarkEnvironment['sends']>[1], keyof typeof load | 'keys'>) => {
    at = performance.now()
    const sent = await environment.sends(worker, { ...load, keys, ...more }, true)
    accepted += sent.recipients
    await routeDrained(database, { queue, other: first.id, accepted })
    return sent
  }
  return {
    async live({ seconds, bulk }) {
      await environment.server.checkpoint()
      const requests = seconds * singlesPerSecond
      const sent = await send({ recipients: 1, perSecond: singlesPerSecond, requests, keepsTimes: 'of requests' })
      await send({ recipients: 1000, requests: bulk / 1000 })
      const perSecond = (bulk * 1000) / (performance.now() - at)
      return { accept: sent.latencies, answered: latenciesOf(await waits(database, sent.times)), perSecond }
    },
    waiting: () => database.number(`select coalesce(sum(hi - lo), 0) from due where account_id = $1`, [first.id]),
    async stop() {
      const delivered = await database.number(
        `select count(*) from message m join carrier c on c.id = m.carrier
        where m.code = 0 and m.account_id <> $1 and c.name = 'good'`,
        [first.id],
      )
      const astray = await database.number(
        `select count(*) from message m join carrier c on c.id = m.carrier where m.account_id = $1 and c.name = 'good'`,
        [first.id],
      )
      const problem = delivered === accepted ? undefined : `${delivered} of ${accepted}`
      environment.check(`${name}: all that was sent over the good carrier is delivered by it`, problem)
      environment.check(`${name}: it got nothing of the other route`, astray === 0 ? undefined : `${astray} messages`)
      await dispatcher.stop()
      await rest.stop()
    },
  }
}

/** Each gateway has its own system id, because receipts are sent over any link of a system id. */
const configurationOf = (
  system: string,
  { good, other, account }: { good: number; other: number; account: number },
): string => {
  const url = (port: number, name: string): string => `smpp://${system}-${name}:pa55w0rd@127.0.0.1:${port}`
  return JSON.stringify({
    carriers: [
      { name: 'good', url: url(good, 'good') },
      { name: 'other', url: url(other, 'other') },
    ],
    routes: [
      { name: 'other', accounts: [account], carriers: [{ carrier: 'other' }] },
      { name: 'good', carriers: [{ carrier: 'good' }] },
    ],
  })
}

const goodQueue = `select q.id queue from queue q join route r on r.id = q.route where r.name = 'good'`

/**
 * Waits, like `drained`, until no message of one queue is due or claimed and the `accepted` messages are delivered.
 * Ignores messages of the account `other`.
 */
async function routeDrained(
  database: Database,
  { queue, other, accepted }: { queue: number | undefined; other: number; accepted: number },
): Promise<void> {
  const deadline = performance.now() + secondsMax * 1000
  const idle = `select (not exists (select from due where queue = $1)
    and not exists (select from claimed_batch where queue = $1))::int`
  const delivered = `select count(*) from message where account_id <> $1 and code = 0`
  const isIdle = async (): Promise<boolean> => (await database.number(idle, [queue])) === 1
  while (!(await isIdle()) || (await database.number(delivered, [other])) < accepted) {
    if (performance.now() > deadline) throw new Error(`after ${secondsMax} s not all messages are delivered`)
    await delay(25)
  }
}

/**
 * Returns the milliseconds from each request until the carrier's answer was stored. `times` has the form of a load: id,
 * time, id, time …
 */
async function waits(database: Database, times: readonly number[]): Promise<number[]> {
  const [ids, requestedAt] = [times.filter((_, at) => at % 2 === 0), times.filter((_, at) => at % 2 === 1)]
  const rows = await database.query<{ ms: string }>(
    `select extract(epoch from m.sent_at) * 1000 - u.asked ms
    from unnest($1::bigint[], $2::float8[]) u(id, asked) join message m using (id)`,
    [ids, requestedAt],
  )
  return rows.map(({ ms }) => Number(ms))
}
