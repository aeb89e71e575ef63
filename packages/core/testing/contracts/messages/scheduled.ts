import { strict as assert } from 'node:assert'
import { credits, instant, secondsAfter, type AccountId, type MessageId, type StoredPorts } from '@gateway/core'
import { anAccountId } from '../../ids.ts'
import { numbers } from '../../builders.ts'
import { realClock } from '../../memory/clock.ts'
import { withTraffic } from '../claimed-batches/traffic.ts'
import { farAhead, longAgo } from '../shared.ts'
import { dueSends } from './waiting-for-time.ts'

const all = { offset: 0, limit: 10_000 }
const later = (seconds: number) => secondsAfter(farAhead, seconds)

async function listed({ messages }: StoredPorts, by: AccountId, page = all): Promise<readonly MessageId[]> {
  return (await messages.scheduled(by, page)).items.map(({ id }) => id)
}

/** What is shown of messages that wait for their time. */
export const scheduled = withTraffic({
  'a scheduled message is listed with its number, its price, when it was accepted and when it is due': async (
    traffic,
  ) => {
    const by = await traffic.account()
    const before = realClock().now()
    const ids = await traffic.send(by, { to: 3, costs: [10, 25, 25], due: farAhead })
    const { total, items } = await traffic.ports.messages.scheduled(by, all)
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

  'what was due at the first moment that there is, goes out at once': async (traffic) => {
    const by = await traffic.account()
    const [id] = await traffic.send(by, { due: instant(Date.parse('0001-01-01T00:00+02:00')) })
    assert.deepEqual(await listed(traffic.ports, by), [])
    assert.equal((await traffic.claim(await traffic.dispatcher())).messages[0]?.id, id)
  },

  'the list is by due time, then id, whatever the order of acceptance, and any page of it is what it is of the whole':
    async (traffic) => {
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

  'an account sees its own, not those of its sub accounts, its main account or anybody else (P-10)': async (
    traffic,
  ) => {
    const [one, other] = [await traffic.account(), await traffic.account()]
    const ids = await traffic.send(one, { to: 2, due: farAhead })
    assert.deepEqual(await listed(traffic.ports, one), ids)
    assert.deepEqual(await traffic.ports.messages.scheduled(other, all), { total: 0, items: [] })
    assert.deepEqual(await traffic.ports.messages.scheduled(anAccountId(4711), all), { total: 0, items: [] })
  },

  'only what can still be deleted is listed: due ones until they are claimed, and never what was sent at once': async (
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
    const left = [...bulk.filter((id) => !claimed.has(id)), ...waiting]
    assert.deepEqual(new Set(await listed(traffic.ports, by)), new Set(left))
    await claimedBatches.postpone(dispatcher, batch.id, [...claimed], 3600)
    assert.deepEqual(new Set(await listed(traffic.ports, by)), new Set(left), 'what is to be tried again is not')
  },
})
