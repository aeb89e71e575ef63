import { strict as assert } from 'node:assert'
import type { ClaimedBatch, DispatcherId, Lane } from '@gateway/core/dispatch'
import { OUTCOME, type MessageId } from '@gateway/core/messages'
import type { PublishedRoute, QueueNumber, Route } from '@gateway/core/routes'
import { aCarrierId, numbers } from '../../builders.ts'
import { until } from '../../until.ts'
import { at } from '../shared.ts'
import { ascending, idsOf, noLease, times, claimOf, withTraffic, type Traffic } from './traffic.ts'

const over = (...carriers: readonly string[]) =>
  carriers.map((name) => ({ carrier: aCarrierId(name), priority: 1, weight: 1 }))
const aRoute = (name: string, prefixes: readonly string[], ...carriers: readonly string[]): Route => ({
  ...{ name, prefixes, accounts: [], senders: [] },
  carriers: over(...carriers),
})

/** Numbers of prefix 2782 that end in 01 and 02 alternately. */
const alternating = (count: number) =>
  numbers(count / 2, '01').flatMap((one, i) => [one, at(numbers(count / 2, '02'), i)])
const endsIn = (count: number, ending: string) => numbers(count, ending)
const toFirst = (count: number): Route => aRoute('first', [...endsIn(count, '01')], 'a')

async function published(
  { ports: { routes } }: Traffic,
  wantedRoutes: readonly Route[],
): Promise<readonly PublishedRoute[]> {
  await routes.publish(wantedRoutes)
  return routes.list()
}

async function claimFrom(
  { ports: { claimedBatches } }: Traffic,
  dispatcher: DispatcherId,
  queue: QueueNumber,
  lane: Lane = 'single',
): Promise<readonly MessageId[]> {
  const all: ClaimedBatch[] = []
  for (;;) {
    const batch = await claimedBatches.claim(dispatcher, { ...claimOf(lane), queue })
    if (typeof batch === 'string') return ascending(idsOf(all))
    all.push(batch)
  }
}

/** Contract of queues: claims from them, and moves between them. */
export const queues = withTraffic({
  'a message waits in the queue of its route and cannot be claimed from another': async (traffic) => {
    const [first, others] = await published(traffic, [toFirst(1), aRoute('others', [], 'b')])
    const account = await traffic.account()
    const ids = [
      await traffic.send(account, { numbers: endsIn(1, '01') }),
      await traffic.send(account, { numbers: endsIn(1, '02') }),
    ]
    const dispatcher = await traffic.dispatcher()
    assert.deepEqual(await claimFrom(traffic, dispatcher, 0 as QueueNumber), [])
    assert.deepEqual(await claimFrom(traffic, dispatcher, first?.number ?? assert.fail()), ids[0])
    assert.deepEqual(await claimFrom(traffic, dispatcher, others?.number ?? assert.fail()), ids[1])
  },

  'a text over two alternating routes is accepted for all numbers, each in the queue of its route': async (traffic) => {
    const to = alternating(40)
    const [first, others] = await published(traffic, [toFirst(20), aRoute('others', [], 'b')])
    const account = await traffic.account()
    const ids = await traffic.send(account, { numbers: to })
    assert.equal(new Set(ids).size, 40)
    const dispatcher = await traffic.dispatcher()
    const parity = (n: number) => ascending(ids.filter((_, i) => i % 2 === n))
    assert.deepEqual(await claimFrom(traffic, dispatcher, first?.number ?? assert.fail(), 'bulk'), parity(0))
    assert.deepEqual(await claimFrom(traffic, dispatcher, others?.number ?? assert.fail(), 'bulk'), parity(1))
    const found = await traffic.ports.messages.status(account, ids, 0 as never)
    assert.deepEqual(
      found.map((status) => (typeof status === 'string' ? status : status.number)),
      to,
    )
  },

  'a scheduled message becomes due in the queue of its route': async (traffic) => {
    const [first] = await published(traffic, [toFirst(1), aRoute('others', [], 'b')])
    const account = await traffic.account()
    const due = (Date.now() + 1000) as never
    const ids = await traffic.send(account, { numbers: endsIn(1, '01'), due })
    await until(async () => (await traffic.ports.claimedBatches.promote(10)) === 1)
    assert.deepEqual(await claimFrom(traffic, await traffic.dispatcher(), first?.number ?? assert.fail()), ids)
  },

  'a temporarily refused message is due in the queue that was chosen for it, an untouched one in its original queue':
    async (traffic) => {
      const [route] = await published(traffic, [aRoute('both', [], 'a', 'b')])
      const [plain, refusedByA] = route?.queues ?? assert.fail()
      const { claimedBatches } = traffic.ports
      const account = await traffic.account()
      const ids = await traffic.send(account, { to: 4 })
      const dispatcher = await traffic.dispatcher()
      const batch = await claimedBatches.claim(dispatcher, {
        ...claimOf('single', 10, 1),
        queue: plain?.number ?? assert.fail(),
      })
      if (typeof batch === 'string') assert.fail(batch)
      const refused = at(ids, 0)
      assert.equal(await claimedBatches.postpone(dispatcher, batch.id, [refused], 0, refusedByA?.number), 'postponed')
      assert.equal(await claimedBatches.giveBack(dispatcher, batch.id, [at(ids, 2), at(ids, 3)]), 'given-back')
      assert.equal(await claimedBatches.giveBack(dispatcher, batch.id, [at(ids, 2), refused]), 'given-back')
      await until(async () => (await claimedBatches.promote(10)) === 1)
      assert.deepEqual(await claimFrom(traffic, dispatcher, plain?.number ?? assert.fail()), ids.slice(2))
      assert.deepEqual(await claimFrom(traffic, dispatcher, refusedByA?.number ?? assert.fail()), [refused])
      assert.deepEqual(await traffic.codes(account, ids), times(4, 'waiting'))
    },

  'a message that is given back can be claimed at once by any dispatcher, with the same number of attempts': async (
    traffic,
  ) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const ids = await traffic.send(account, { to: 20 })
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher, 'bulk', 20, 5)
    assert.equal(await claimedBatches.giveBack(dispatcher, batch.id, ids.slice(5)), 'given-back')
    const other = await traffic.dispatcher()
    const again = await traffic.claim(other, 'bulk', 20)
    assert.deepEqual(idsOf([again]), ids.slice(5))
    assert.ok(again.messages.every(({ attempt }) => attempt === 0))
    await traffic.fence(dispatcher)
    assert.equal(await claimedBatches.giveBack(dispatcher, batch.id, ids.slice(0, 5)), 'fenced')
  },

  'messages of a dead dispatcher are due in the queue from which they were claimed': async (traffic) => {
    const [first] = await published(traffic, [toFirst(1), aRoute('others', [], 'b')])
    const account = await traffic.account()
    const ids = await traffic.send(account, { numbers: endsIn(1, '01') })
    const dispatcher = await traffic.dispatcher()
    const queue = first?.number ?? assert.fail()
    await traffic.ports.claimedBatches.claim(dispatcher, { ...claimOf('single', 10, 0), queue, leaseSeconds: noLease })
    await traffic.ports.claimedBatches.recover()
    assert.deepEqual(await claimFrom(traffic, await traffic.dispatcher(), queue), ids)
  },

  'a poll returns the queues with work in a lane, in the requested order': async (traffic) => {
    const [first, others] = await published(traffic, [toFirst(12), aRoute('others', [], 'b')])
    const all = [others?.number ?? assert.fail(), 0 as QueueNumber, first?.number ?? assert.fail()]
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    assert.deepEqual(await claimedBatches.queuesWithWork('single', all), [])
    await traffic.send(account, { numbers: endsIn(1, '01') })
    await traffic.send(account, { numbers: endsIn(1, '02') })
    await traffic.send(account, { numbers: endsIn(12, '01') })
    assert.deepEqual(await claimedBatches.queuesWithWork('single', all), [all[0], all[2]])
    assert.deepEqual(await claimedBatches.queuesWithWork('bulk', all), [all[2]])
  },

  'messages without a route, or in an unpublished one, move to the published routes, and back': async (traffic) => {
    const { routes } = traffic.ports
    const account = await traffic.account()
    const ids = await traffic.send(account, { numbers: alternating(4) })
    const single = await traffic.send(account, { numbers: endsIn(1, '02') })
    const over = await traffic.send(account, { numbers: endsIn(1, '02'), validity: -60 })
    assert.equal(await routes.reroute(100), 0)
    const [first, others] = await published(traffic, [toFirst(2), aRoute('others', [], 'b')])
    assert.equal(await routes.reroute(100), 3)
    assert.equal(await routes.reroute(100), 0)
    const { claimedBatches } = traffic.ports
    assert.equal(await claimedBatches.expire(3600, 100), 1)
    assert.deepEqual(await traffic.codes(account, over), [OUTCOME.expired])
    const all = [first?.number ?? assert.fail(), others?.number ?? assert.fail()]
    assert.deepEqual(await claimedBatches.queuesWithWork('single', all), all)
    await published(traffic, [aRoute('others', [], 'b')])
    assert.equal(await routes.reroute(1), 1)
    assert.equal(await routes.reroute(1), 1)
    assert.equal(await routes.reroute(1), 0)
    assert.deepEqual(await claimedBatches.queuesWithWork('single', all), [all[1]])
    await published(traffic, [])
    while ((await routes.reroute(2)) > 0);
    assert.deepEqual(
      await claimFrom(traffic, await traffic.dispatcher(), 0 as QueueNumber),
      ascending([...ids, ...single]),
    )
  },

  'messages waiting for another try after a carrier that left their route move too': async (traffic) => {
    const [both] = await published(traffic, [aRoute('both', [], 'a', 'b')])
    const [plain, refusedByA] = both?.queues ?? assert.fail()
    const { claimedBatches, routes } = traffic.ports
    const ids = await traffic.send(await traffic.account())
    const dispatcher = await traffic.dispatcher()
    const batch = await claimedBatches.claim(dispatcher, {
      ...claimOf('single'),
      queue: plain?.number ?? assert.fail(),
    })
    if (typeof batch === 'string') assert.fail(batch)
    await claimedBatches.postpone(dispatcher, batch.id, ids, 0, refusedByA?.number)
    await until(async () => (await claimedBatches.promote(10)) === 1)
    assert.equal(await routes.reroute(10), 0)
    await published(traffic, [aRoute('both', [], 'b', 'c')])
    assert.equal(await routes.reroute(10), 1)
    assert.deepEqual(await claimFrom(traffic, dispatcher, plain?.number ?? assert.fail()), ids)
  },

  'with concurrent claims, moves and acceptances by processes with old routes, each message is claimed once': async (
    traffic,
  ) => {
    const [others] = await published(traffic, [aRoute('others', [], 'b')])
    const account = await traffic.account()
    const sends = await Promise.all(
      times(30, 0).map((_, i) => traffic.send(account, { numbers: endsIn(1 + (i % 3), '01') })),
    )
    const [first, rest] = await published(traffic, [toFirst(3), aRoute('rest', [], 'a')])
    const dispatchers = await Promise.all(times(3, 0).map(() => traffic.dispatcher()))
    const queuesOf = [others, first, rest].map((route) => route?.number ?? assert.fail())
    const claimed: MessageId[] = []
    await until(async () => {
      const found = await Promise.all([
        ...queuesOf.map((queue, i) => claimFrom(traffic, at(dispatchers, i), queue)),
        ...times(3, 0).map(() => traffic.ports.routes.reroute(5).then(() => [])),
      ])
      claimed.push(...found.flat())
      return claimed.length >= 60
    })
    assert.deepEqual(ascending(claimed), ascending(sends.flat()))
  },
})
