import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import { OUTCOME, type Deletion, type MessageId } from '@gateway/core/messages'
import { instant, secondsAfter, type Instant } from '@gateway/core/time'
import { aMessageId, anAccount, anAccountId, anOrder, aNumber, numbers } from '../../builders.ts'
import { realClock } from '../../memory/clock.ts'
import { until } from '../../until.ts'
import {
  all,
  allAccepted,
  ascending,
  granted,
  idsOf,
  times,
  claimOf,
  withTraffic,
  type Traffic,
} from '../claimed-batches/traffic.ts'
import { accepted, assertLedger, at, concurrentCallers, codesOf, farAhead, longAgo, statusesOf } from '../shared.ts'

/** Returns a due time shortly ahead, but late enough that a message accepted now is stored as scheduled. */
export const soon = (seconds = 1): Instant => secondsAfter(realClock().now(), seconds)

/**
 * Returns a due time that is still ahead when sends of these sizes have been stored. Measures how long another
 * account's sends of these sizes take on this machine now, and allows four times as long.
 */
export async function soonFor(traffic: Traffic, sizes: readonly number[]): Promise<Instant> {
  const other = await traffic.account()
  const began = performance.now()
  await Promise.all(sizes.map((to) => traffic.send(other, { to, due: farAhead })))
  return soon(1 + (4 * (performance.now() - began)) / 1000)
}

/** Creates scheduled sends of these sizes, and waits until they are due. Nobody has claimed them. */
export async function dueSends(
  traffic: Traffic,
  by: AccountId,
  sizes: readonly number[],
): Promise<readonly (readonly MessageId[])[]> {
  const due = await soonFor(traffic, sizes)
  const sends = await Promise.all(sizes.map((to) => traffic.send(by, { to, due })))
  let moved = 0
  await until(async () => (moved += await traffic.ports.claimedBatches.promote(1000)) >= sizes.length)
  return sends
}

const wholeList = { offset: 0, limit: 10_000 }
const later = (seconds: number) => secondsAfter(farAhead, seconds)

async function listed({ messages }: StoredPorts, by: AccountId, page = wholeList): Promise<readonly MessageId[]> {
  return (await messages.scheduled(by, page)).items.map(({ id }) => id)
}

/** Contract of the list of scheduled messages. */
export const scheduled = withTraffic({
  'a scheduled message is listed with its number, price, time of acceptance and due time': async (traffic) => {
    const by = await traffic.account()
    const before = realClock().now()
    const ids = await traffic.send(by, { to: 3, costs: [10, 25, 25], due: farAhead })
    const { total, items } = await traffic.ports.messages.scheduled(by, wholeList)
    assert.equal(total, 3)
    assert.deepEqual(
      items.map(({ id, number, cost, due }) => ({ id, number, cost, due })),
      ids.map((id, i) => ({ id, number: numbers(3)[i], cost: credits([10, 25, 25][i] ?? 0), due: farAhead })),
    )
    for (const { submitted } of items) {
      assert.ok(Number.isInteger(submitted) && submitted >= secondsAfter(before, -1), 'when it was accepted')
      assert.ok(submitted <= secondsAfter(realClock().now(), 1))
    }
  },

  'a message that is due at the earliest possible instant is sent at once': async (traffic) => {
    const by = await traffic.account()
    const [id] = await traffic.send(by, { due: instant(Date.parse('0001-01-01T00:00+02:00')) })
    assert.deepEqual(await listed(traffic.ports, by), [])
    assert.equal((await traffic.claim(await traffic.dispatcher())).messages[0]?.id, id)
  },

  'the list is sorted by due time, then id, and every page is a part of the whole list': async (traffic) => {
    const by = await traffic.account()
    const sends: { readonly due: number; readonly ids: readonly MessageId[] }[] = []
    for (const [seconds, to] of [
      [5, 12],
      [1, 1],
      [9, 3],
      [1, 15],
      [5, 1],
      [0, 2],
    ] as const) {
      sends.push({ due: seconds, ids: await traffic.send(by, { to, due: later(seconds) }) })
    }
    const expected = sends
      .toSorted((a, b) => a.due - b.due || (a.ids[0] ?? 0) - (b.ids[0] ?? 0))
      .flatMap(({ ids }) => ids)
    assert.deepEqual(await listed(traffic.ports, by), expected)
    for (let limit = 1; limit <= 40; limit += 3) {
      for (let offset = 0; offset <= 40; offset += 5) {
        const { total, items } = await traffic.ports.messages.scheduled(by, { offset, limit })
        assert.equal(total, 34)
        const ids = items.map(({ id }) => id)
        assert.deepEqual(ids, expected.slice(offset, offset + limit), `${limit} from ${offset}`)
      }
    }
    assert.deepEqual(await traffic.ports.messages.scheduled(by, { offset: Number.MAX_SAFE_INTEGER, limit: 1000 }), {
      total: 34,
      items: [],
    })
  },

  'an account sees only its own messages, not those of its sub accounts, main account or others (P-10)': async (
    traffic,
  ) => {
    const [one, other] = [await traffic.account(), await traffic.account()]
    const ids = await traffic.send(one, { to: 2, due: farAhead })
    assert.deepEqual(await listed(traffic.ports, one), ids)
    assert.deepEqual(await traffic.ports.messages.scheduled(other, wholeList), { total: 0, items: [] })
    assert.deepEqual(await traffic.ports.messages.scheduled(anAccountId(4711), wholeList), { total: 0, items: [] })
  },

  'only deletable messages are listed: due ones until they are claimed, and none that was not scheduled': async (
    traffic,
  ) => {
    const { claimedBatches } = traffic.ports
    const by = await traffic.account()
    const [single = [], bulk = []] = await dueSends(traffic, by, [3, 15])
    await traffic.send(by, { to: 2 })
    await traffic.send(by, { to: 20 })
    await traffic.send(by, { to: 2, due: longAgo })
    const waiting = await traffic.send(by, { to: 2, due: farAhead })
    assert.deepEqual(new Set(await listed(traffic.ports, by)), new Set([...single, ...bulk, ...waiting]))

    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher, 'bulk', 5, 0)
    const claimed = new Set(batch.messages.map(({ id }) => id))
    await traffic.claimAll(dispatcher)
    const expectedIds = [...bulk.filter((id) => !claimed.has(id)), ...waiting]
    assert.deepEqual(new Set(await listed(traffic.ports, by)), new Set(expectedIds))
    await claimedBatches.postpone(dispatcher, batch.id, [...claimed], 3600)
    assert.deepEqual(new Set(await listed(traffic.ports, by)), new Set(expectedIds), 'what is to be tried again is not')
  },
})

const { cancelled, sent, unknown } = OUTCOME
const page = { offset: 0, limit: 10_000 }

const deleted = (
  { messages }: StoredPorts,
  by: AccountId,
  ids: readonly MessageId[],
  since: Instant = longAgo,
): Promise<readonly Deletion[]> => messages.deleteScheduled(by, ids, since)

const outcomes = async (ports: StoredPorts, by: AccountId, ids: readonly MessageId[], since?: Instant) =>
  (await deleted(ports, by, ids, since)).map(({ outcome }) => outcome)

/** Contract of deleting scheduled messages (ruling 1.15, P-8). */
export const deleting = withTraffic({
  'a deleted message is refunded exactly, returned with its number, and has status 102 with a cost of 0.0': async (
    traffic,
  ) => {
    const { ports } = traffic
    const by = await traffic.account()
    const ids = await traffic.send(by, { to: 3, costs: [10, 33, 0], due: farAhead })
    assert.deepEqual(
      await deleted(ports, by, ids.toReversed()),
      [2, 1, 0].map((i) => ({ outcome: 'deleted', number: numbers(3)[i], refunded: [10, 33, 0][i] })),
    )
    assert.equal(await traffic.balance(by), granted)
    assert.deepEqual(
      (await statusesOf(ports, by, ids)).map((status) => typeof status === 'object' && [status.code, status.cost]),
      times(3, [cancelled, 0]),
    )
    assert.deepEqual(await ports.messages.scheduled(by, page), { total: 0, items: [] })
  },

  'every id has its result in order, and a deleted message is refunded once, however often its id occurs': async (
    traffic,
  ) => {
    const { ports } = traffic
    const by = await traffic.account()
    const [a, b] = (await traffic.send(by, { to: 2, due: farAhead })) as [MessageId, MessageId]
    const [c] = (await traffic.send(by)) as [MessageId]
    const nobodys = aMessageId(Number.MAX_SAFE_INTEGER - 1)
    const requestedIds = [b, c, b, nobodys, a, c, b, nobodys, a]
    assert.deepEqual(await outcomes(ports, by, requestedIds), [
      'deleted',
      'sent',
      'not-found',
      'not-found',
      'deleted',
      'sent',
      'not-found',
      'not-found',
      'not-found',
    ])
    assert.deepEqual(await outcomes(ports, by, [a, b]), ['not-found', 'not-found'], 'deleted before')
    assert.equal(await traffic.balance(by), granted - 10)
    assert.deepEqual(await deleted(ports, by, []), [])
  },

  'the other messages of a send stay in the list, and are sent when due': async (traffic) => {
    const { ports } = traffic
    const by = await traffic.account()
    for (const to of [9, 30]) {
      const due = await soonFor(traffic, [to])
      const ids = await traffic.send(by, { to, due })
      const gone = ids.filter((_, i) => [0, 3, 4, to - 1].includes(i))
      const remaining = ids.filter((id) => !gone.includes(id))
      assert.deepEqual(await outcomes(ports, by, gone), times(4, 'deleted'))
      const { total, items } = await ports.messages.scheduled(by, page)
      assert.equal(total, remaining.length)
      assert.deepEqual(
        items.map((item) => [item.id, item.due]),
        remaining.map((id) => [id, due]),
      )
      const dispatcher = await traffic.dispatcher()
      const claimed: MessageId[] = []
      await until(async () => {
        await ports.claimedBatches.promote(100)
        const batches = await traffic.claimAll(dispatcher, to > 10 ? 'bulk' : 'single')
        for (const batch of batches) await ports.claimedBatches.record(dispatcher, allAccepted(batch))
        return claimed.push(...idsOf(batches)) >= remaining.length
      })
      assert.deepEqual(ascending(claimed), remaining)
      assert.deepEqual(
        await outcomes(ports, by, ids),
        ids.map((id) => (gone.includes(id) ? 'not-found' : 'sent')),
      )
    }
  },

  'a due message can be deleted until it is claimed, also one of the rest of a send': async (traffic) => {
    const { ports } = traffic
    const by = await traffic.account()
    const [single = [], bulk = []] = await dueSends(traffic, by, [4, 30])
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher, 'bulk', 10, 10)
    const claimed = idsOf([batch])
    const gone = [...single.slice(1, 3), ...bulk.filter((id) => !claimed.includes(id)).slice(3, 9)]
    assert.deepEqual(await outcomes(ports, by, [...gone, ...claimed]), [...times(8, 'deleted'), ...times(10, 'sent')])
    const rest = [...(await traffic.claimAll(dispatcher, 'bulk')), ...(await traffic.claimAll(dispatcher))]
    assert.deepEqual(
      ascending(idsOf(rest)),
      ascending([...single, ...bulk].filter((id) => !gone.includes(id) && !claimed.includes(id))),
    )
  },

  'a message that was claimed, sent, finished, refused temporarily, or never scheduled is reported as sent and stays charged':
    async (traffic) => {
      const { ports } = traffic
      const { claimedBatches } = ports
      const by = await traffic.account()
      const dispatcher = await traffic.dispatcher()
      const [[refused], [inDoubt], [delivered], [postponed], [claimed]] = (await dueSends(
        traffic,
        by,
        times(5, 1),
      )) as [[MessageId], [MessageId], [MessageId], [MessageId], [MessageId]]
      const [batch] = (await traffic.claimAll(dispatcher)) as [Awaited<ReturnType<typeof traffic.claim>>]
      const of = (...ids: MessageId[]) => batch.messages.filter(({ id }) => ids.includes(id))
      await claimedBatches.record(dispatcher, [
        ...all('refused', batch, of(refused)),
        ...all('unknown', batch, of(inDoubt)),
        ...allAccepted(batch, of(delivered)),
      ])
      await claimedBatches.postpone(dispatcher, batch.id, [postponed], 3600)
      const atOnce = await traffic.send(by, { to: 20 })
      const past = await traffic.send(by, { due: longAgo })
      const ids = [refused, inDoubt, delivered, postponed, claimed, at(atOnce, 7), at(past, 0)]
      const number = aNumber('27820000000')
      assert.deepEqual(
        await deleted(ports, by, ids),
        ids.map((id) => ({ outcome: 'sent', number: id === atOnce[7] ? numbers(8)[7] : number })),
      )
      assert.equal(await traffic.balance(by), granted - 25 * 10)
    },

  'a message of a dead dispatcher can be deleted again only if none of its batch can have been submitted': async (
    traffic,
  ) => {
    const { ports } = traffic
    const by = await traffic.account()
    await dueSends(traffic, by, times(6, 1))
    const dispatcher = await traffic.dispatcher()
    const batch = await traffic.claim(dispatcher, 'single', 6, 2)
    const ids = idsOf([batch])
    assert.deepEqual(await outcomes(ports, by, ids), times(6, 'sent'))
    await traffic.fence(dispatcher)
    assert.deepEqual(await outcomes(ports, by, ids), [...times(2, 'sent'), ...times(4, 'deleted')])
    assert.deepEqual(await traffic.codes(by, ids), [...times(2, unknown), ...times(4, cancelled)])
  },

  'ids of another account look exactly like unknown ones, also for its parent, and nothing is deleted (P-10)': async ({
    ports,
  }) => {
    const main = await anAccount(ports)
    const sub = await anAccount(ports, { parent: main.id })
    const waiting = await accepted(ports, anOrder(sub.id, { to: numbers(3), due: farAhead }))
    const atOnce = await accepted(ports, anOrder(sub.id, { to: numbers(2) }))
    const ids = [...waiting.ids, ...atOnce.ids]
    assert.deepEqual(await outcomes(ports, main.id, ids), times(5, 'not-found'))
    assert.deepEqual(await outcomes(ports, anAccountId(2 ** 31 - 8), ids), times(5, 'not-found'))
    assert.deepEqual(await codesOf(ports, sub.id, ids), times(5, 'waiting'))
    await assertLedger(ports, 2000 - 50)
  },

  'a locked account can delete, and gets its refund': async (traffic) => {
    const { ports } = traffic
    const by = await traffic.account()
    const ids = await traffic.send(by, { to: 2, due: farAhead })
    await ports.accounts.setLocked(by, true)
    assert.deepEqual(await outcomes(ports, by, ids), ['deleted', 'deleted'])
    assert.equal(await traffic.balance(by), granted)
  },

  'a decided message becomes too old at the exact millisecond, by its due time; a waiting one never does': async (
    traffic,
  ) => {
    const { ports } = traffic
    const by = await traffic.account()
    const dispatcher = await traffic.dispatcher()
    const [done] = (await dueSends(traffic, by, [1])).flat() as [MessageId]
    const batch = await traffic.claim(dispatcher)
    const due = at(batch.messages, 0).due
    assert.deepEqual(await outcomes(ports, by, [done], farAhead), ['sent'], 'claimed')
    await ports.claimedBatches.record(dispatcher, allAccepted(batch))
    assert.deepEqual(await outcomes(ports, by, [done], due), ['sent'])
    assert.deepEqual(await outcomes(ports, by, [done], instant(due + 1)), ['not-found'])
    const waiting = await traffic.send(by, { due: farAhead })
    const atOnce = await traffic.send(by)
    assert.deepEqual(await outcomes(ports, by, [...waiting, ...atOnce], instant(farAhead + 1)), ['deleted', 'sent'])
  },

  'a message that moves within the queue concurrently, without being claimed, is deleted nevertheless': async (
    traffic,
  ) => {
    const { ports } = traffic
    const by = await traffic.account()
    const due = soon(5)
    const singles = (await Promise.all(times(120, 1).map((to) => traffic.send(by, { to, due })))).flat()
    const bulk = await traffic.send(by, { to: 400, due })
    const dispatcher = await traffic.dispatcher()
    await until(() => realClock().now() > secondsAfter(due, 0.2))
    const promoting = (async () => {
      for (let i = 0; i < 30; i++) await ports.claimedBatches.promote(7)
    })()
    const deletes = singles.map((id) => deleted(ports, by, [id]))
    const answers = (await Promise.all(deletes)).flat()
    assert.deepEqual(new Set(answers.map(({ outcome }) => outcome)), new Set(['deleted']))
    await ports.claimedBatches.promote(1)
    const claiming = (async () => {
      for (let i = 0; i < 20; i++) await ports.claimedBatches.claim(dispatcher, claimOf('bulk', 8))
    })()
    const tail = bulk.slice(200)
    const cuts = times(20, 0).map((_, i) => outcomes(ports, by, tail.slice(i * 10, i * 10 + 10)))
    assert.deepEqual(new Set((await Promise.all(cuts)).flat()), new Set(['deleted']))
    await Promise.all([promoting, claiming])
  },

  'if 64 deletions of 1000 messages race with claims and each other, each message is deleted and refunded once, or claimed':
    async (traffic) => {
      const { ports } = traffic
      const by = await traffic.account()
      const due = soon(5)
      const sizes = [...times(300, 1), ...times(40, 10), ...times(3, 100)]
      const ids = (await Promise.all(sizes.map((to) => traffic.send(by, { to, due })))).flat()
      const dispatchers = await Promise.all(times(3, 0).map(() => traffic.dispatcher()))
      const claimed: MessageId[] = []
      const claim = async () => {
        await ports.claimedBatches.promote(50)
        for (const [i, dispatcher] of dispatchers.entries()) {
          const batch = await ports.claimedBatches.claim(dispatcher, claimOf(i === 0 ? 'bulk' : 'single', 8))
          if (typeof batch === 'string') continue
          claimed.push(...idsOf([batch]))
          await ports.claimedBatches.record(dispatcher, allAccepted(batch))
        }
      }
      await until(async () => {
        await claim()
        return claimed.length > 0
      })

      let callersLeft = concurrentCallers
      const calls = times(concurrentCallers, 0).map(async (_, i) => {
        const requestedIds = ids.filter((_, at) => at % 16 === i % 16 || at % 61 === i % 61)
        const answers = await deleted(ports, by, requestedIds).finally(() => callersLeft--)
        return requestedIds.map((id, at) => ({ id, answer: answers[at] ?? assert.fail('an id without an answer') }))
      })
      const racing = (async () => {
        while (callersLeft > 0) await claim()
      })()
      const answers = (await Promise.all(calls)).flat()
      await racing
      await until(async () => {
        await claim()
        return (await ports.messages.scheduled(by, page)).total === 0
      })
      const claims = [
        ...(await traffic.claimAll(at(dispatchers, 0))),
        ...(await traffic.claimAll(at(dispatchers, 0), 'bulk')),
      ]
      for (const batch of claims) await ports.claimedBatches.record(at(dispatchers, 0), allAccepted(batch))
      claimed.push(...idsOf(claims))

      const gone = answers.flatMap(({ id, answer }) => (answer.outcome === 'deleted' ? id : []))
      assert.deepEqual(ascending([...claimed, ...gone]), ascending(ids), 'each once, and in one of the two only')
      const isClaimed = new Set(claimed)
      for (const { id, answer } of answers) {
        assert.equal(answer.outcome === 'sent', isClaimed.has(id), `${id} is ${answer.outcome}`)
      }
      assert.deepEqual(
        await traffic.codes(by, ids),
        ids.map((id) => (isClaimed.has(id) ? sent : cancelled)),
      )
      assert.equal(await traffic.balance(by), granted - claimed.length * 10)
    },
})
