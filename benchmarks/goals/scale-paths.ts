import { setTimeout as delay } from 'node:timers/promises'
import { drained } from '../environment/drained.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import { measured } from '../environment/usage.ts'
import { idsOf } from '../loads/id-ranges.ts'
import { restGet, restPost } from '../loads/send-requests.ts'
import type { AskLoad } from '../loads/ask-load.ts'
import type { SendLoadResult } from '../loads/send-load.ts'
import { keysOf } from './accepting.ts'
import type { Side } from './scale-side.ts'

type Values = Readonly<Record<string, number>>

interface Sending {
  readonly keys: readonly string[]
  readonly connections: number
  readonly recipients: number
  readonly requests: number
  readonly scheduled?: string
}

async function send(
  environment: BenchmarkEnvironment,
  side: Side,
  sending: Sending,
): Promise<{ sent: SendLoadResult; microseconds: number }> {
  const { result: sent, usage } = await measured(environment.server, [side.rest], () =>
    environment.sends(side.worker, { url: side.rest.url, face: 'rest', ...sending }, true),
  )
  return { sent, microseconds: usage.postgres / sent.recipients }
}

async function dispatchAll(environment: BenchmarkEnvironment, side: Side, sent: SendLoadResult): Promise<number> {
  const { result: dispatcher, usage } = await measured(environment.server, [], async () => {
    const started = await side.dispatch()
    await drained(side.database, sent.accepted)
    return started
  })
  await dispatcher.stop()
  return usage.postgres / sent.recipients
}

const life =
  (of: string, sending: (environment: BenchmarkEnvironment, side: Side) => Sending) =>
  async (environment: BenchmarkEnvironment, side: Side): Promise<Values> => {
    const { sent, microseconds: accept } = await send(environment, side, sending(environment, side))
    const dispatch = await dispatchAll(environment, side, sent)
    return {
      [`${of}: accept`]: accept,
      [`${of}: claim to receipt`]: dispatch,
      [`${of}: whole life`]: accept + dispatch,
    }
  }

export const bulkLife = life('sends of 1000', ({ quick }, { accounts }) => ({
  keys: keysOf(accounts.slice(-1)),
  connections: 4,
  recipients: 1000,
  requests: quick ? 50 : 200,
}))

export const singleLife = life('single sends', ({ quick }, { accounts }) => ({
  keys: keysOf(accounts.slice(-500)),
  connections: 64,
  recipients: 1,
  requests: quick ? 5000 : 20_000,
}))

/**
 * Sends from an account with suppressed numbers to other numbers. The next dispatcher submits the accepted messages.
 */
export async function screenedAccept(environment: BenchmarkEnvironment, side: Side): Promise<Values> {
  const keys = keysOf(side.accounts.slice(1, 2))
  const { sent, microseconds } = await send(environment, side, {
    keys,
    connections: 4,
    recipients: 1000,
    requests: environment.quick ? 30 : 100,
  })
  const dispatch = await dispatchAll(environment, side, sent)
  return {
    'sends of 1000 with suppressions: accept': microseconds,
    'sends of 1000 with suppressions: claim to receipt': dispatch,
  }
}

export const recentStatus = (environment: BenchmarkEnvironment, side: Side): Promise<Values> =>
  statusOf(environment, side, 'status of 1000 ids of today', [ownIds(side, () => 0)])

export const oldStatus = (environment: BenchmarkEnvironment, side: Side): Promise<Values> => {
  const lists = Array.from({ length: 20 }, (_, list) => ownIds(side, (i) => (i * 7919 + list * 104_729) / 1_000_000))
  return statusOf(environment, side, 'status of 1000 ids from all of the history', lists)
}

/**
 * Returns ids of the first account, which owns the first thousand ids of nine out of ten blocks. `age` ranges from 0
 * (newest) to 1 (oldest).
 */
function ownIds({ ids: [lo, hi] }: Side, age: (i: number) => number): number[] {
  const blocks = (hi - lo) / 10_000
  return Array.from({ length: 1000 }, (_, i) => {
    const block = hi / 10_000 - 1 - Math.floor((age(i) % 1) * blocks)
    return (block % 10 === 9 ? block - 1 : block) * 10_000 + i
  })
}

async function statusOf(
  environment: BenchmarkEnvironment,
  side: Side,
  name: string,
  lists: readonly (readonly number[])[],
): Promise<Values> {
  const [key = ''] = keysOf(side.accounts)
  const wires = lists.map((list) => restPost(key, '/sms/outgoing/status', list))
  return ask(environment, side, name, { connections: 4, wires, mark: '"status":"UNKNOWN"', marks: 0, seconds: 3 }, 1000)
}

type Asking = Omit<AskLoad, 'url'>

/** Sends requests and returns the cost of one item. `each` is the number of items of one answer. */
async function ask(
  environment: BenchmarkEnvironment,
  side: Side,
  name: string,
  asking: Asking,
  each = 1,
): Promise<Values> {
  const { result, usage } = await measured(environment.server, [side.rest], () =>
    side.worker.run('asks', { url: side.rest.url, ...asking }),
  )
  const [[failure, times] = []] = Object.entries(result.failures)
  environment.check(
    `${name}: each answer is what it should be`,
    failure === undefined ? undefined : `${String(times)} times: ${failure}`,
  )
  return { [name]: usage.postgres / (result.requests * each), [`${name}: answer`]: result.latencies.p50 }
}

const perDelete = 1000

/** Schedules single sends, lists them, and deletes them again. */
export async function scheduled(environment: BenchmarkEnvironment, side: Side): Promise<Values> {
  const tomorrow = new Date(Date.now() + 26 * 3_600_000).toISOString().replace(/[-T:]/g, '').slice(0, 12)
  const [account] = side.accounts.slice(-501)
  const key = account?.key ?? ''
  const { sent, microseconds } = await send(environment, side, {
    keys: [key],
    connections: 64,
    recipients: 1,
    requests: 3 * perDelete,
    scheduled: tomorrow,
  })
  const ids = idsOf(sent.accepted)
  const listing = {
    connections: 4,
    wires: [restGet(key, '/sms/scheduled')],
    mark: '"scheduledMessages"',
    marks: 1,
    seconds: 2,
  }
  const listed = await ask(environment, side, 'a page of 3000 scheduled messages', listing)
  const wires = [0, 1, 2].map((at) =>
    restPost(key, '/sms/scheduled/delete', ids.slice(at * perDelete, (at + 1) * perDelete)),
  )
  const deleting = { connections: 1, wires, mark: '"deleted":true', marks: perDelete, requests: wires.length }
  const deleted = await ask(environment, side, 'delete of 1000 scheduled single sends', deleting, perDelete)
  return { 'scheduled single sends: accept': microseconds, ...listed, ...deleted }
}

/** Transfers credits back and forth between two sub accounts. */
export function transfers(environment: BenchmarkEnvironment, side: Side): Promise<Values> {
  const [main, one, other] = side.accounts.slice(2, 5)
  const transfer = (from = one, to = other): string =>
    restPost(main?.key ?? '', '/credits/transfer', {
      sendingAccountNumber: from?.id,
      receivingAccountNumber: to?.id,
      transferQuantity: 1,
    })
  const wires = [transfer(), transfer(other, one)]
  return ask(environment, side, 'transfer', {
    connections: 8,
    wires,
    mark: '"transferSuccessful":true',
    marks: 1,
    seconds: 3,
  })
}

/**
 * Accepts messages while no dispatcher runs, then dispatches for a while: single sends first, then the oldest messages.
 */
export async function behindBacklog(environment: BenchmarkEnvironment, side: Side): Promise<Values> {
  const keys = keysOf(side.accounts)
  const bulk = { keys: keys.slice(-1), connections: 4, recipients: 1000, requests: environment.quick ? 20 : 50 }
  const single = { keys: keys.slice(-500), connections: 64, recipients: 1, requests: environment.quick ? 2000 : 10_000 }
  const values = {
    'sends of 1000 behind a backlog: accept': (await send(environment, side, bulk)).microseconds,
    'single sends behind a backlog: accept': (await send(environment, side, single)).microseconds,
  }
  const waiting = (): Promise<number> => side.database.number('select sum(hi - lo) from due')
  const delivered = (): Promise<number> =>
    side.database.number('select count(*) from message where id >= $1 and code = 0', [side.ids[1]])
  const [before, enough] = [await delivered(), (await waiting()) - 4 * single.requests]
  const { usage } = await measured(environment.server, [], async () => {
    const dispatcher = await side.dispatch()
    while ((await waiting()) > enough) await delay(100)
    await dispatcher.stop()
  })
  return { ...values, 'a backlog: claim to receipt': usage.postgres / ((await delivered()) - before) }
}
