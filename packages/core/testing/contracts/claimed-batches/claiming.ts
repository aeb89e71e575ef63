import { strict as assert } from 'node:assert'
import type { ClaimedBatch } from '@gateway/core/dispatch'
import { INCIDENT, type MessageId } from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import { aBody, numbers, anAddress } from '../../builders.ts'
import { realClock } from '../../memory/clock.ts'
import { until } from '../../until.ts'
import { collect, longAgo, testCarrier } from '../shared.ts'
import { allAccepted, ascending, idsOf, times, claimOf, withTraffic } from './traffic.ts'

/** Contract of claims: which messages a dispatcher gets, and how many. */
export const claiming = withTraffic({
  'a temporarily refused message is behind all others of its account, in both lanes': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const [dispatcher, account] = [await traffic.dispatcher(), await traffic.account()]
    for (const [lane, to] of [
      ['single', 1],
      ['bulk', 20],
    ] as const) {
      const refused = await traffic.send(account, { to, priority: 1 })
      const batch = await traffic.claim(dispatcher, lane)
      assert.equal(await claimedBatches.postpone(dispatcher, batch.id, refused, 0), 'postponed')
      const fresh = await traffic.send(account, { to })
      await until(async () => (await claimedBatches.promote(100)) === 0)
      assert.deepEqual(idsOf([await traffic.claim(dispatcher, lane, to)]), fresh)
      const last = await traffic.claim(dispatcher, lane, to)
      assert.deepEqual([idsOf([last]), last.messages[0]?.attempt], [refused, 1])
      assert.equal(await claimedBatches.giveBack(dispatcher, last.id, refused), 'given-back')
      const later = await traffic.send(account, { to })
      assert.deepEqual(idsOf([await traffic.claim(dispatcher, lane, to)]), later)
      assert.deepEqual(idsOf([await traffic.claim(dispatcher, lane, to)]), refused)
    }
  },

  'an overflow claim takes only messages that have waited long enough, and records the carrier': async (traffic) => {
    const { claimedBatches, sentMessages } = traffic.ports
    const [dispatcher, account] = [await traffic.dispatcher(), await traffic.account()]
    for (const [lane, to] of [
      ['single', 1],
      ['bulk', 20],
    ] as const) {
      const ids = await traffic.send(account, { to })
      const overflow = (overflowSeconds: number) =>
        claimedBatches.claim(dispatcher, { ...claimOf(lane), overflowSeconds })
      assert.equal(await overflow(3600), 'nothing')
      const batch = await overflow(0)
      assert.deepEqual(typeof batch === 'string' ? batch : idsOf([batch]), ids)
      const trace = await sentMessages.trace(ids[0] ?? assert.fail())
      assert.deepEqual(
        trace?.incidents.map(({ name: incident, carrier }) => [incident, carrier]),
        [[INCIDENT.overflow, testCarrier]],
      )
    }
  },

  'a fresh claim takes only messages that no carrier refused, of any account': async (traffic) => {
    const { claimedBatches } = traffic.ports
    const dispatcher = await traffic.dispatcher()
    const accounts = [await traffic.account(), await traffic.account(), await traffic.account()]
    for (const [lane, to] of [
      ['single', 1],
      ['bulk', 20],
    ] as const) {
      const fresh = (messagesMax: number) =>
        claimedBatches.claim(dispatcher, { ...claimOf(lane, messagesMax), fresh: true })
      const refused = (await Promise.all(accounts.map((account) => traffic.send(account, { to })))).flat()
      for (const { id, messages } of await traffic.claimAll(dispatcher, lane))
        await claimedBatches.postpone(
          dispatcher,
          id,
          messages.map((message) => message.id),
          0,
        )
      await until(async () => (await claimedBatches.promote(100)) === 0)
      assert.equal(await fresh(to), 'nothing')
      const ids = await traffic.send(accounts[1] ?? assert.fail(), { to })
      const batch = await fresh(to)
      assert.deepEqual(typeof batch === 'string' ? batch : idsOf([batch]), ids)
      assert.equal(await fresh(to), 'nothing')
      assert.deepEqual(ascending(idsOf(await traffic.claimAll(dispatcher, lane))), ascending(refused))
    }
  },

  'a claimed message has the accepted data and text': async (traffic) => {
    const before = realClock().now() - 60_000
    const account = await traffic.account()
    const text = 'Grüße für 5 €: ^{}[~]\\| '.repeat(9)
    const ids = await traffic.send(account, { to: 3, text, costs: [20, 20, 20] })
    const batch = await traffic.claim(await traffic.dispatcher())
    assert.deepEqual(idsOf([batch]), ids)
    for (const [i, message] of batch.messages.entries()) {
      const { due, ...rest } = message
      assert.deepEqual(rest, {
        id: ids[i],
        send: ids[0],
        account,
        to: numbers(3)[i],
        body: aBody(text),
        from: anAddress(),
        expires: undefined,
        options: {},
        onlyOver: undefined,
        confirmation: false,
        attempt: 0,
        accountLocked: false,
        suppressions: new Set(),
      })
      assert.ok(due > before && due < before + 120_000, 'due when it was accepted')
    }
    assert.deepEqual(await traffic.codes(account, ids), times(3, 'waiting'))
  },

  'a claim has its time by the clock that decides about due times': async (traffic) => {
    const account = await traffic.account()
    const dispatcher = await traffic.dispatcher()
    let last = -Infinity
    for (const lane of ['single', 'bulk', 'single'] as const) {
      await traffic.send(account, { to: lane === 'single' ? 2 : 12 })
      const { at, messages } = await traffic.claim(dispatcher, lane)
      assert.ok(at >= last, 'not before the claim before it')
      for (const { due } of messages) assert.ok(at >= due && at < due + 120_000, 'after they were due, and soon')
      last = at
    }
  },

  'a text in UCS-2 is claimed as it was accepted': async (traffic) => {
    const account = await traffic.account()
    const text = 'שלום 👋 “quoted” '.repeat(12)
    await traffic.send(account, { text })
    const batch = await traffic.claim(await traffic.dispatcher())
    assert.deepEqual(batch.messages[0]?.body, aBody(text))
  },

  'texts to ten numbers are claimed in the single lane, to eleven in the bulk lane': async (traffic) => {
    const account = await traffic.account()
    const dispatcher = await traffic.dispatcher()
    const ten = await traffic.send(account, { to: 10 })
    assert.equal(await traffic.ports.claimedBatches.claim(dispatcher, claimOf('bulk')), 'nothing')
    const eleven = await traffic.send(account, { to: 11 })
    assert.deepEqual(idsOf(await traffic.claimAll(dispatcher, 'single')), ten)
    assert.deepEqual(idsOf(await traffic.claimAll(dispatcher, 'bulk')), eleven)
  },

  'a text to more than ten numbers is in the bulk lane at any prices, also after it is given back or postponed, and can be deleted there':
    async (traffic) => {
      const { claimedBatches, messages } = traffic.ports
      const account = await traffic.account()
      const costs = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? 10 : 20))
      const ids = await traffic.send(account, { to: 12, costs, due: secondsAfter(realClock().now(), 1) })
      const claimAsBulk = async () => {
        const dispatcher = await traffic.dispatcher()
        await until(async () => (await claimedBatches.promote(100)) === 0 && (await waiting()) === 0)
        assert.equal(await claimedBatches.claim(dispatcher, claimOf('single')), 'nothing')
        const batches: ClaimedBatch[] = []
        for (let hasMore = true; hasMore;) {
          const batch = await claimedBatches.claim(dispatcher, claimOf('bulk', 1000, 0))
          if (typeof batch === 'string') hasMore = false
          else batches.push(batch)
        }
        return { dispatcher, batches }
      }
      const waiting = async () =>
        (await collect(traffic.ports.overview.queue())).reduce(
          (sum, { scheduled, postponed }) => sum + scheduled + postponed,
          0,
        )

      const first = await claimAsBulk()
      assert.deepEqual(ascending(idsOf(first.batches)), ids)
      assert.deepEqual(await traffic.fence(first.dispatcher), { requeued: 12, unknown: 0 })
      const deleted = await messages.deleteScheduled(account, ids.slice(0, 4), longAgo)
      assert.deepEqual(
        deleted.map(({ outcome }) => outcome),
        times(4, 'deleted'),
      )
      const second = await claimAsBulk()
      assert.deepEqual(ascending(idsOf(second.batches)), ids.slice(4))
      for (const batch of second.batches) {
        await claimedBatches.postpone(second.dispatcher, batch.id, idsOf([batch]), 0)
      }
      assert.deepEqual(ascending(idsOf((await claimAsBulk()).batches)), ids.slice(4))
    },

  'a text with a different price for each number does not need one claim per number': async (traffic) => {
    const costs = Array.from({ length: 400 }, (_, i) => 10 + (i % 2))
    const ids = await traffic.send(await traffic.account(), { to: 400, costs })
    const batches = await traffic.claimAll(await traffic.dispatcher(), 'bulk', 100)
    assert.deepEqual(ascending(idsOf(batches)), ids)
    assert.ok(batches.length <= 6, `${batches.length} claims`)
  },

  'concurrent dispatchers claim every message exactly once, in batches with ascending ids, and leave none': async (
    traffic,
  ) => {
    const { claimedBatches } = traffic.ports
    const account = await traffic.account()
    const sends = await Promise.all([
      ...times(40, 10).map((to) => traffic.send(account, { to })),
      ...times(3, 200).map((to) => traffic.send(account, { to })),
    ])
    const ids = ascending(sends.flat())
    assert.equal(ids.length, 1000)

    const work = async () => {
      const dispatcher = await traffic.dispatcher()
      const lanes = [traffic.claimAll(dispatcher, 'single', 37), traffic.claimAll(dispatcher, 'bulk', 61)]
      const claimed = (await Promise.all(lanes)).flat()
      for (const batch of claimed) await claimedBatches.record(dispatcher, allAccepted(batch))
      await claimedBatches.retire(dispatcher)
      return claimed
    }
    const claimed = (await Promise.all(times(8, 0).map(work))).flat()

    assert.deepEqual(ascending(idsOf(claimed)), ids)
    for (const batch of claimed) assert.deepEqual(idsOf([batch]), ascending(idsOf([batch])))
    assert.deepEqual(await traffic.codes(account, ids), times(1000, 100))
    const late = await traffic.dispatcher()
    assert.equal(await claimedBatches.claim(late, claimOf('single')), 'nothing')
    assert.equal(await claimedBatches.claim(late, claimOf('bulk')), 'nothing')
    assert.deepEqual(await traffic.fence(late), { requeued: 0, unknown: 0 })
  },

  'a batch of the bulk lane has at most the requested number of messages, of one account; the others stay': async (
    traffic,
  ) => {
    const account = await traffic.account()
    const first = await traffic.send(account, { to: 25 })
    const second = await traffic.send(await traffic.account(), { to: 25, costs: [10, 20, 10, 10] })
    const batches = await traffic.claimAll(await traffic.dispatcher(), 'bulk', 10)
    assert.deepEqual(ascending(idsOf(batches)), ascending([...first, ...second]))
    for (const { messages } of batches) {
      assert.ok(messages.length <= 10)
      assert.equal(new Set(messages.map(({ account }) => account)).size, 1)
    }
  },

  'a batch of the single lane exceeds the requested number by at most the rest of one text': async (traffic) => {
    const account = await traffic.account()
    for (const to of [4, 3, 10, 1, 2, 7]) await traffic.send(account, { to })
    const batches = await traffic.claimAll(await traffic.dispatcher(), 'single', 5)
    assert.equal(idsOf(batches).length, 27)
    for (const { messages } of batches) {
      const last = messages.at(-1)?.send
      assert.ok(messages.filter(({ send }) => send !== last).length < 5)
    }
  },

  'at most the requested number of messages is marked': async (traffic) => {
    const account = await traffic.account()
    const ids = await traffic.send(account, { to: 10 })
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher, 'single', 10, 4)
    assert.equal(batch.marked, 4)
    await traffic.ports.claimedBatches.retire(dispatcher)
    assert.deepEqual(await traffic.codes(account, ids), [...times(4, 106), ...times(6, 'waiting')])
  },

  'if fewer messages wait than may be marked, all claimed ones are marked': async (traffic) => {
    const account = await traffic.account()
    await traffic.send(account, { to: 3 })
    await traffic.send(account, { to: 12 })
    const dispatcher = await traffic.dispatcher()
    assert.equal((await traffic.claim(dispatcher, 'single', 100, 50)).marked, 3)
    assert.equal((await traffic.claim(dispatcher, 'bulk', 100, 50)).marked, 12)
  },

  'a claim reports locks and suppressions of its account and numbers at that moment, and none of other accounts':
    async (traffic) => {
      const { accounts, suppressions } = traffic.ports
      const account = await traffic.account()
      const other = await traffic.account()
      for (const to of [4, 12]) await traffic.send(account, { to })
      const [a, b, c, d] = numbers(4)
      assert.ok(a && b && c && d)
      await suppressions.add({ scope: account, number: a, kind: 'opt-out', since: longAgo })
      await suppressions.add({ scope: 'everybody', number: a, kind: 'blacklist', since: longAgo })
      await suppressions.add({ scope: 'everybody', number: b, kind: 'do-not-contact', since: longAgo })
      await suppressions.add({ scope: other, number: c, kind: 'opt-out', since: longAgo })
      await accounts.setLocked(account, true)

      const dispatcher = await traffic.dispatcher()
      for (const lane of ['single', 'bulk'] as const) {
        const { messages } = await traffic.claim(dispatcher, lane)
        const found = messages.slice(0, 4).map((message) => [...message.suppressions].sort())
        assert.deepEqual(found, [['blacklist', 'opt-out'], ['do-not-contact'], [], []])
        assert.ok(messages.every(({ accountLocked }) => accountLocked))
      }
    },

  'behind the backlog of one account, a single message of another account is in one of the next claims': async (
    traffic,
  ) => {
    const [busy, other] = [await traffic.account(), await traffic.account()]
    await Promise.all(times(60, 10).map((to) => traffic.send(busy, { to })))
    const dispatcher = await traffic.dispatcher()
    await traffic.claim(dispatcher, 'single', 20)
    const [id] = await traffic.send(other)
    const next = [await traffic.claim(dispatcher, 'single', 20), await traffic.claim(dispatcher, 'single', 20)]
    assert.ok(idsOf(next).includes(id as MessageId))
  },

  'accounts with backlogs take turns in the single lane, however small the claims': async (traffic) => {
    const accounts = await Promise.all(times(12, 0).map(() => traffic.account()))
    for (let i = 0; i < 4; i++) await Promise.all(accounts.map((account) => traffic.send(account, { to: 10 })))
    const dispatcher = await traffic.dispatcher()
    const next: ClaimedBatch[] = []
    for (let i = 0; i < 8; i++) next.push(await traffic.claim(dispatcher, 'single', 20))
    const served = new Set(next.flatMap(({ messages }) => messages.map(({ account }) => account)))
    assert.equal(served.size, 12)
  },

  'messages of an account with a higher priority are claimed first, also before the rest of a text': async (
    traffic,
  ) => {
    const account = await traffic.account()
    const dispatcher = await traffic.dispatcher()
    for (const [lane, to] of [
      ['single', 1],
      ['bulk', 12],
    ] as const) {
      await traffic.send(account, { to })
      const backlog = lane === 'bulk' ? await traffic.send(account, { to: 30 }) : []
      if (lane === 'bulk') await traffic.claim(dispatcher, lane, to + 6)
      for (const priority of [0, 2, 1, 3, 2] as const) await traffic.send(account, { to, priority })
      const claimed = await traffic.claimAll(dispatcher, lane, to)
      const found = claimed.flatMap(({ messages }) => messages.map(({ options }) => options.priority ?? 0))
      const expected = [3, 2, 2, 1].flatMap((priority) => times(to, priority))
      assert.deepEqual(found, [...expected, ...times(found.length - 4 * to, 0)])
      assert.equal(found.length, lane === 'bulk' ? 5 * to + backlog.length - 6 : 6)
    }
  },

  'a higher priority does not use up a turn of another account': async (traffic) => {
    const [urgent, other] = [await traffic.account(), await traffic.account()]
    const dispatcher = await traffic.dispatcher()
    for (const [lane, to] of [
      ['single', 10],
      ['bulk', 30],
    ] as const) {
      await Promise.all(times(12, to).map(() => traffic.send(urgent, { to, priority: 3 })))
      await traffic.send(other, { to })
      const next: ClaimedBatch[] = []
      for (let i = 0; i < 2; i++) next.push(await traffic.claim(dispatcher, lane, to))
      const served = new Set(next.flatMap(({ messages }) => messages.map(({ account }) => account)))
      assert.ok(served.has(other), lane)
      await traffic.claimAll(dispatcher, lane)
    }
  },

  'accounts take turns in the bulk lane': async (traffic) => {
    const busy = await traffic.account()
    await Promise.all(times(12, 30).map((to) => traffic.send(busy, { to })))
    const others = [await traffic.account(), await traffic.account()]
    for (const other of others) await traffic.send(other, { to: 30 })
    const dispatcher = await traffic.dispatcher()
    const next: ClaimedBatch[] = []
    for (let i = 0; i < 4; i++) next.push(await traffic.claim(dispatcher, 'bulk', 30))
    const served = new Set(next.flatMap(({ messages }) => messages.map(({ account }) => account)))
    for (const other of others) assert.ok(served.has(other))
  },
})
