import { strict as assert } from 'node:assert'
import { OUTCOME, type MessageId } from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import { realClock } from '../../memory/clock.ts'
import { until } from '../../until.ts'
import { soonFor } from '../messages/scheduled.ts'
import { farAhead, longAgo } from '../shared.ts'
import { allAccepted, ascending, granted, idsOf, times, claimOf, withTraffic } from './traffic.ts'

const { expired, sent } = OUTCOME

/** Maximum age in seconds. It is negative, so that every waiting message exceeds it unless the message is scheduled. */
const alreadyOver = -60

/**
 * Minutes from `farAhead` to `longAgo` (negative): a message due at `farAhead` with this validity has already expired.
 */
const farAheadAndOver = Math.floor((longAgo - farAhead) / 60_000)

/** Contract of messages that wait for their time, and of messages that wait too long. */
export const waiting = withTraffic({
  'a scheduled message is not claimed before it is due': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const ids = [
      ...(await traffic.send(account, { to: 2, due: farAhead })),
      ...(await traffic.send(account, { to: 20, due: farAhead })),
    ]
    assert.equal(await claimedBatches.promote(100), 0)
    const dispatcher = await traffic.dispatcher()
    for (const lane of ['single', 'bulk'] as const) {
      assert.equal(await claimedBatches.claim(dispatcher, claimOf(lane)), 'nothing')
    }
    assert.deepEqual(await traffic.codes(account, ids), times(22, 'waiting'))
  },

  'scheduled messages move to the queue when due, each once, also with concurrent promotions, and keep their due time':
    async (traffic) => {
      const { claimedBatches } = traffic.ports
      const account = await traffic.account()
      const due = await soonFor(traffic, [...times(30, 5), ...times(3, 40)])
      const sends = await Promise.all([
        ...times(30, 5).map((to) => traffic.send(account, { to, due })),
        ...times(3, 40).map((to) => traffic.send(account, { to, due })),
      ])
      let moved = 0
      await until(async () => {
        const counts = await Promise.all(times(8, 0).map(() => claimedBatches.promote(4)))
        for (const count of counts) assert.ok(count <= 4)
        moved += counts.reduce((sum, count) => sum + count, 0)
        return moved === 33
      })
      const dispatcher = await traffic.dispatcher()
      const claimed = [...(await traffic.claimAll(dispatcher)), ...(await traffic.claimAll(dispatcher, 'bulk'))]
      assert.deepEqual(ascending(idsOf(claimed)), ascending(sends.flat()))
      for (const { messages } of claimed) assert.ok(messages.every((message) => message.due === due))
      assert.equal(await claimedBatches.promote(100), 0)
    },

  'when messages of several accounts become due together, each account has its share at once': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const [busy, other] = [await traffic.account(), await traffic.account()]
    const due = await soonFor(traffic, times(41, 1))
    await Promise.all(times(40, 0).map(() => traffic.send(busy, { due })))
    const [id] = await traffic.send(other, { due })
    await until(() => realClock().now() > secondsAfter(due, 0.2))
    for (let i = 0; i < 2; i++) await claimedBatches.promote(10)
    const claimed = idsOf(await traffic.claimAll(await traffic.dispatcher()))
    assert.ok(claimed.length <= 20)
    assert.ok(claimed.includes(id as MessageId))
  },

  'a message that has waited too long expires and is refunded once; younger ones wait on': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const ids = [
      ...(await traffic.send(account, { to: 2, costs: [5, 7] })),
      ...(await traffic.send(account, { to: 20 })),
    ]
    assert.equal(await claimedBatches.expire(3600, 100), 0)
    assert.deepEqual(await traffic.codes(account, ids), times(22, 'waiting'))
    const counts = await Promise.all(times(8, 0).map(() => claimedBatches.expire(alreadyOver, 100)))
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      22,
    )
    assert.deepEqual(await traffic.codes(account, ids), times(22, expired))
    assert.equal(await traffic.balance(account), granted)
    assert.equal(await claimedBatches.expire(alreadyOver, 100), 0)
    const dispatcher = await traffic.dispatcher()
    for (const lane of ['single', 'bulk'] as const) {
      assert.equal(await claimedBatches.claim(dispatcher, claimOf(lane)), 'nothing')
    }
  },

  'expiry handles at most the requested number of ranges per call, and comes to an end': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const sends = await Promise.all(times(25, 0).map(() => traffic.send(account)))
    let total = 0
    for (let count = 1; count > 0; total += count) {
      count = await claimedBatches.expire(alreadyOver, 4)
      assert.ok(count <= 12)
    }
    assert.equal(total, 25)
    assert.deepEqual(await traffic.codes(account, sends.flat()), times(25, expired))
  },

  'a temporarily refused message also expires while it waits for its next try': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const ids = await traffic.send(account, { to: 3 })
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher)
    await claimedBatches.postpone(dispatcher, batch.id, ids, 3600)
    assert.equal(await claimedBatches.expire(alreadyOver, 100), 3)
    assert.deepEqual(await traffic.codes(account, ids), times(3, expired))
    assert.equal(await traffic.balance(account), granted)
  },

  'neither claimed nor scheduled messages expire': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const claimed = await traffic.send(account, { to: 5 })
    const scheduled = await traffic.send(account, { to: 5, due: farAhead })
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher)
    assert.equal(await claimedBatches.expire(alreadyOver, 100), 0)
    await claimedBatches.record(dispatcher, allAccepted(batch))
    assert.deepEqual(await traffic.codes(account, [...claimed, ...scheduled]), [
      ...times(5, sent),
      ...times(5, 'waiting'),
    ])
  },

  'a message expires by its own validity, even later than the setting allows for others (ruling 1.29)': async (
    traffic,
  ) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const over = [
      ...(await traffic.send(account, { to: 2, validity: -1 })),
      ...(await traffic.send(account, { to: 20, validity: -1 })),
    ]
    const lasting = [
      ...(await traffic.send(account, { to: 2, validity: 60 })),
      ...(await traffic.send(account, { to: 20, validity: 60 })),
    ]
    const scheduled = await traffic.send(account, { to: 3, due: farAhead, validity: farAheadAndOver })
    const others = await traffic.send(account, { to: 2 })
    const counts = await Promise.all(times(8, 0).map(() => claimedBatches.expire(3600, 100)))
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      25,
    )
    assert.deepEqual(await traffic.codes(account, [...over, ...scheduled]), times(25, expired))
    assert.equal(await claimedBatches.expire(alreadyOver, 100), 2)
    assert.deepEqual(await traffic.codes(account, [...others, ...lasting]), [
      ...times(2, expired),
      ...times(22, 'waiting'),
    ])
    const dispatcher = await traffic.dispatcher()
    for (const lane of ['single', 'bulk'] as const)
      for (const { messages } of await traffic.claimAll(dispatcher, lane))
        for (const { due, expires } of messages) assert.equal(expires, secondsAfter(due, 3600))
  },

  'messages keep their priority and class in the rest of a range, and when given back, postponed, promoted or recovered':
    async (traffic) => {
      const { claimedBatches, messages } = traffic.ports
      const account = await traffic.account()
      const urgent = { priority: 2, flash: true } as const
      const due = await soonFor(traffic, [30])
      const promoted = await traffic.send(account, { to: 30, due, ...urgent })
      await until(async () => (await claimedBatches.promote(100)) > 0)
      await messages.deleteScheduled(account, promoted.slice(0, 2), longAgo)
      const ids = [...promoted.slice(2), ...(await traffic.send(account, { to: 20, ...urgent }))]

      const dispatcher = await traffic.dispatcher()
      const batch = await traffic.claim(dispatcher, 'bulk', 20, 0)
      const claimed = idsOf([batch])
      assert.equal(await claimedBatches.giveBack(dispatcher, batch.id, claimed.slice(0, 3)), 'given-back')
      assert.equal(await claimedBatches.postpone(dispatcher, batch.id, claimed.slice(3, 6), 0), 'postponed')
      await until(async () => (await claimedBatches.promote(100)) > 0)
      await traffic.fence(dispatcher)
      await traffic.send(account, { to: 12 })
      const all = (await traffic.claimAll(await traffic.dispatcher(), 'bulk', 500)).flatMap((one) => one.messages)
      const found = new Map(all.map(({ id, options }) => [id, options]))
      assert.equal(found.size, ids.length + 12)
      for (const id of ids) assert.deepEqual(found.get(id), urgent)
    },

  'messages keep their own validity in the rest of a range, and when given back, postponed, promoted or recovered':
    async (traffic) => {
      const { claimedBatches, messages } = traffic.ports
      const account = await traffic.account()
      const due = await soonFor(traffic, [30])
      const ids = await traffic.send(account, { to: 30, due, validity: -60 })
      const [deleted] = ids
      assert.ok(deleted !== undefined)
      await messages.deleteScheduled(account, [deleted], longAgo)
      let moved = 0
      await until(async () => (moved += await claimedBatches.promote(100)) > 0)
      await messages.deleteScheduled(account, ids.slice(1, 2), longAgo)

      const dispatcher = await traffic.dispatcher()
      const batch = await traffic.claim(dispatcher, 'bulk', 10, 0)
      for (const message of batch.messages) assert.equal(message.expires, secondsAfter(due, -3600))
      const [first, second] = [ids.slice(2, 5), ids.slice(5, 8)] as const
      assert.equal(await claimedBatches.giveBack(dispatcher, batch.id, first), 'given-back')
      assert.equal(await claimedBatches.postpone(dispatcher, batch.id, second, 3600), 'postponed')
      assert.deepEqual(await traffic.fence(dispatcher), { requeued: 4, unknown: 0 })
      assert.equal(await claimedBatches.expire(3600, 100), 28)
      assert.deepEqual(await traffic.codes(account, ids.slice(2)), times(28, expired))
    },

  'if claims race with expiry, each message is either claimed or expired': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const sends = await Promise.all(times(40, 5).map((to) => traffic.send(account, { to })))
    const ids = sends.flat()
    const dispatcher = await traffic.dispatcher()
    const [claimed, ...expiries] = await Promise.all([
      traffic.claimAll(dispatcher, 'single', 10),
      ...times(6, 0).map(() => claimedBatches.expire(alreadyOver, 3)),
    ])
    for (const batch of claimed) await claimedBatches.record(dispatcher, allAccepted(batch))
    const gone = expiries.reduce((sum, count) => sum + count, 0)
    const codes = await traffic.codes(account, ids)
    assert.equal(codes.filter((code) => code === expired).length, gone)
    assert.equal(codes.filter((code) => code === sent).length, idsOf(claimed).length)
    assert.equal(gone + idsOf(claimed).length, 200)
  },
})
