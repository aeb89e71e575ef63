import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { WaitingWork } from '@gateway/core/fleet'
import { OUTCOME } from '@gateway/core/messages'
import { aCarrierId } from '../builders.ts'
import { until } from '../until.ts'
import { all, allAccepted, noLease, claimOf, withTraffic, type Traffic } from './claimed-batches/traffic.ts'
import { handedOver, otherCarrier } from './delivery-receipts/sent-messages.ts'
import { at, collect, farAhead, longAgo, testCarrier, type Contract } from './shared.ts'

const queueOf = ({ ports }: Traffic): Promise<readonly WaitingWork[]> => collect(ports.overview.queue())

const idle = { due: 0, oldestDue: undefined, scheduled: 0, postponed: 0 }

export const overviewContract: Contract<StoredPorts> = withTraffic({
  'without dispatchers and messages the overview is empty': async (traffic) => {
    await traffic.account()
    assert.deepEqual(await traffic.ports.overview.dispatchers(), [])
    assert.deepEqual(await queueOf(traffic), [])
  },

  'dispatchers are listed from their registration until they end or are declared dead': async (traffic) => {
    const { claimedBatches, overview } = traffic.ports
    const ids = [await traffic.dispatcher(), await traffic.dispatcher(), await traffic.dispatcher()]
    const listed = await overview.dispatchers()
    assert.deepEqual(
      listed.map(({ id, overdue, loads }) => ({ id, overdue, loads })),
      ids.map((id) => ({ id, overdue: false, loads: [] })),
    )
    for (const { since, leaseUntil } of listed) {
      assert.ok(since !== undefined && since > longAgo && since < leaseUntil && leaseUntil < farAhead)
    }
    assert.equal(await claimedBatches.extend(at(ids, 1), noLease), 'alive')
    assert.deepEqual(
      (await overview.dispatchers()).map(({ overdue }) => overdue),
      [false, true, false],
    )
    await claimedBatches.recover()
    await claimedBatches.retire(at(ids, 0))
    const rest = await overview.dispatchers()
    assert.deepEqual(rest, [{ ...at(listed, 2), leaseUntil: rest[0]?.leaseUntil }])
  },

  'a dispatcher is listed with the version, host and process of its registration, if it had any': async ({ ports }) => {
    await ports.claimedBatches.register(60, '1.2.3-rc.4', { host: 'alpha', pid: 4711 })
    await ports.claimedBatches.register(60)
    assert.deepEqual(
      (await ports.overview.dispatchers()).map(({ version, place }) => [version, place]),
      [
        ['1.2.3-rc.4', { host: 'alpha', pid: 4711 }],
        [undefined, undefined],
      ],
    )
  },

  'claimed batches are listed by carrier, with their messages and how many may have been submitted': async (
    traffic,
  ) => {
    const { claimedBatches, overview } = traffic.ports
    const account = await traffic.account()
    const dispatcher = await traffic.dispatcher()
    const loads = async () => (await overview.dispatchers())[0]?.loads
    await traffic.send(account, { to: 20 })
    const bulk = await traffic.claim(dispatcher, 'bulk', 20, 5)
    await traffic.send(account, { to: 3 })
    await claimedBatches.claim(dispatcher, { ...claimOf('single', 10, 1), carrier: otherCarrier })
    await traffic.send(account)
    const single = await traffic.claim(dispatcher)
    const other = { carrier: otherCarrier, batches: 1, messages: 3, inDoubt: 1 }
    assert.deepEqual(await loads(), [{ carrier: testCarrier, batches: 2, messages: 21, inDoubt: 6 }, other])
    await claimedBatches.mark(dispatcher, bulk.id, 8)
    await claimedBatches.record(dispatcher, allAccepted(bulk, bulk.messages.slice(0, 6)))
    assert.deepEqual(await loads(), [{ carrier: testCarrier, batches: 2, messages: 15, inDoubt: 3 }, other])
    await claimedBatches.record(dispatcher, allAccepted(single))
    const expired = { id: at(bulk.messages, 19).id, code: OUTCOME.expired }
    await claimedBatches.settle(dispatcher, bulk.id, [expired])
    await claimedBatches.postpone(dispatcher, bulk.id, [at(bulk.messages, 6).id], 600)
    assert.deepEqual(await loads(), [{ carrier: testCarrier, batches: 1, messages: 12, inDoubt: 1 }, other])
  },

  'waiting messages are counted by account and lane: due, scheduled, and for another try': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const [first, second, third] = [await traffic.account(), await traffic.account(), await traffic.account()]
    const [retried] = await traffic.send(first)
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher)
    await claimedBatches.postpone(dispatcher, batch.id, retried === undefined ? [] : [retried], 600)
    await traffic.send(first, { to: 3 })
    await traffic.send(first, { to: 2 })
    await traffic.send(first, { to: 4, due: farAhead })
    await traffic.send(first, { to: 11, due: farAhead })
    await traffic.send(third, { to: 11 })
    const queue = await queueOf(traffic)
    assert.deepEqual(
      queue.map((work) => ({ ...work, oldestDue: undefined })),
      [
        { ...idle, account: first, lane: 'single', due: 5, scheduled: 4, postponed: 1 },
        { ...idle, account: first, lane: 'bulk', scheduled: 11 },
        { ...idle, account: third, lane: 'bulk', due: 11 },
      ],
    )
    assert.ok(queue.every(({ account }) => account !== second))
    const plausible = queue.map(
      ({ oldestDue }) => oldestDue !== undefined && oldestDue > longAgo && oldestDue < farAhead,
    )
    assert.deepEqual(plausible, [true, false, true])
  },

  'the oldest message is the one that was due first, also if it was tried meanwhile': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const [first] = await traffic.send(account)
    const due = (await queueOf(traffic))[0]?.oldestDue
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher)
    await claimedBatches.postpone(dispatcher, batch.id, first === undefined ? [] : [first], 0)
    await traffic.send(account)
    await until(async () => (await claimedBatches.promote(10)) > 0)
    const [work] = await queueOf(traffic)
    assert.deepEqual(work, { ...idle, account, lane: 'single', due: 2, oldestDue: due })
  },

  'due messages are counted by route, whichever carrier refused them': async (traffic) => {
    const { routes, claimedBatches, overview } = traffic.ports
    const account = await traffic.account()
    await traffic.send(account, { to: 3 })
    const dueByRoute = async () => (await overview.routes()).map(({ route, due }) => [route, due])
    assert.deepEqual(await dueByRoute(), [[undefined, 3]])
    assert.equal((await overview.routes())[0]?.single, 3)
    const due = (await queueOf(traffic))[0]?.oldestDue
    assert.equal((await overview.routes())[0]?.oldestDue, due)
    const carriers = ['a', 'b'].map((name) => ({ carrier: aCarrierId(name), priority: 1, weight: 1 }))
    await routes.publish([{ name: 'all', prefixes: [], accounts: [], senders: [], carriers }])
    await until(async () => (await claimedBatches.promote(10), await routes.reroute(10)) > 0)
    assert.deepEqual(await dueByRoute(), [['all', 3]])
    const [, refused] = (await routes.list())[0]?.queues ?? []
    const dispatcher = await traffic.dispatcher()
    const number = (await routes.list())[0]?.number
    const batch = await claimedBatches.claim(dispatcher, { ...claimOf('single', 1), ...(number && { queue: number }) })
    assert.ok(typeof batch === 'object' && refused !== undefined)
    const ids = batch.messages.map(({ id }) => id)
    await claimedBatches.postpone(dispatcher, batch.id, ids, 0, refused.number)
    await until(async () => (await claimedBatches.promote(10)) > 0)
    assert.deepEqual(await dueByRoute(), [['all', 3]])
  },

  'each lane of a route has the time of its oldest message, and a lane without due messages has none': async (
    traffic,
  ) => {
    const { overview } = traffic.ports
    const account = await traffic.account()
    const lanesOf = async () => (await overview.routes())[0]?.oldestOfLane
    await traffic.send(account, { to: 11 })
    const [bulk] = await queueOf(traffic)
    assert.deepEqual(await lanesOf(), { bulk: bulk?.oldestDue })
    await traffic.send(account)
    await traffic.send(account)
    const [single] = await queueOf(traffic)
    assert.deepEqual(await lanesOf(), { single: single?.oldestDue, bulk: bulk?.oldestDue })
  },

  'claimed messages do not count as waiting, and messages given back do': async (traffic) => {
    const account = await traffic.account()
    await traffic.send(account, { to: 20 })
    const dispatcher = await traffic.dispatcher()
    await traffic.claim(dispatcher, 'bulk', 15, 0)
    assert.equal((await queueOf(traffic))[0]?.due, 5)
    await traffic.fence(dispatcher)
    assert.equal((await queueOf(traffic))[0]?.due, 20)
  },

  'during claims and releases no message is counted twice, and reading changes nothing': async (traffic) => {
    const { claimedBatches, overview } = traffic.ports
    const accounts = await Promise.all(Array.from({ length: 5 }, () => traffic.account()))
    for (const account of accounts) await traffic.send(account, { to: 10 })
    let running = true
    const look = async () => {
      while (running) {
        for (const { due, scheduled, postponed } of await queueOf(traffic)) {
          assert.ok(due + scheduled + postponed <= 10)
        }
        for (const { loads } of await overview.dispatchers()) {
          for (const { messages, inDoubt } of loads) assert.ok(messages <= 50 && inDoubt === 0)
        }
      }
    }
    const work = async () => {
      for (let round = 0; round < 8; round++) {
        const dispatcher = await traffic.dispatcher()
        for (let i = 0; i < 3; i++) await claimedBatches.claim(dispatcher, claimOf('single', 20, 0))
        await claimedBatches.retire(dispatcher)
      }
    }
    await Promise.all([work().finally(() => (running = false)), look(), look()])
    const queue = await queueOf(traffic)
    assert.deepEqual(
      queue.map(({ due }) => due),
      accounts.map(() => 10),
    )
    assert.deepEqual(await overview.dispatchers(), [])
  },

  'messages whose outcome became unknown are counted by carrier, and those that were resolved apart': async (
    traffic,
  ) => {
    const { overview } = traffic.ports
    assert.deepEqual(await overview.unknownOutcomes(3600), [])
    const byAnswer = await handedOver(traffic, { to: 3 })
    await byAnswer.record(all('unknown', byAnswer.batch))
    const byRecovery = await handedOver(traffic, { to: 2 })
    await traffic.fence(byRecovery.dispatcher)
    await byRecovery.record()
    await handedOver(traffic)
    assert.deepEqual(await overview.unknownOutcomes(3600), [{ carrier: testCarrier, resolved: 2, unresolved: 3 }])
    assert.deepEqual(await overview.unknownOutcomes(-60), [])
  },
})
