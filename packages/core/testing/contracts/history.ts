import { strict as assert } from 'node:assert'
import { limits, type StoredPorts } from '@gateway/core'
import { OUTCOME } from '@gateway/core/messages'
import { anAccount, anOrder, numbers } from '../builders.ts'
import { aCustomer, aPart } from '../smpp.ts'
import { until } from '../until.ts'
import { accepted, assertLedger, codesOf, dispatchDue, farAhead, statusesOf, type Contract } from './shared.ts'

const stepsMax = 1000
const contactDays = 730

/** Calls `drop` until nothing is left to drop. Fails the test after `stepsMax` calls. */
async function dropAll({ history }: Pick<StoredPorts, 'history'>, days: number = limits.statusDays) {
  const sum = { partitions: 0, sends: 0, messages: 0 }
  for (let step = 0; step < stepsMax; step++) {
    const { progress: rest, ...dropped } = await history.drop(days, contactDays)
    sum.partitions += dropped.partitions
    sum.sends += dropped.sends
    sum.messages += dropped.messages
    if (rest === 'all') return sum
  }
  return assert.fail('there is no end to it')
}

const nothing = { partitions: 0, sends: 0, messages: 0 }

/**
 * Contract of the port `History`, as far as it can be tested without moving the store's clock. Each adapter has its own
 * tests of what is dropped as time passes.
 */
export const historyContract: Contract<StoredPorts> = {
  'in a store without sends nothing is dropped': async (ports) => {
    assert.deepEqual(await dropAll(ports), nothing)
  },

  'recent messages are not dropped in any state, and no balance changes': async (ports) => {
    const { id } = await anAccount(ports, { credits: 1000 })
    const decided = await accepted(ports, anOrder(id, { to: numbers(20), costs: [10, 3] }))
    const outcomes = ['accepted', 'refused', 'unknown'] as const
    await dispatchDue(ports, 'bulk', ({ id }) => ({ outcome: outcomes[id % 3] ?? 'unknown', reference: String(id) }))
    await dispatchDue(ports, 'single', () => ({ outcome: 'unknown' }))
    const due = await accepted(ports, anOrder(id, { to: numbers(2) }))
    const later = await accepted(ports, anOrder(id, { to: numbers(2), due: farAhead }))
    const ids = [decided, due, later].flatMap((acceptance) => acceptance.ids)
    const before = await statusesOf(ports, id, ids)
    const balance = await ports.ledger.balance(id)
    assert.deepEqual(await dropAll(ports), nothing)
    assert.deepEqual(await statusesOf(ports, id, ids), before)
    await assertLedger(ports, balance)
    assert.equal((await dispatchDue(ports, 'single', () => ({ outcome: 'unknown' }))).length, 2)
  },

  'a waiting message is never dropped, however few days are requested': async (ports) => {
    const { id } = await anAccount(ports)
    const { ids } = await accepted(ports, anOrder(id, { to: numbers(3) }))
    const later = await accepted(ports, anOrder(id, { to: numbers(3), due: farAhead }))
    assert.deepEqual(await dropAll(ports, 0), nothing)
    assert.deepEqual(new Set(await codesOf(ports, id, [...ids, ...later.ids])), new Set(['waiting']))
    await dispatchDue(ports, 'single', () => ({ outcome: 'unknown' }))
    const codes = (await statusesOf(ports, id, ids)).map((status) => typeof status === 'object' && status.code)
    assert.deepEqual(codes, [OUTCOME.unknown, OUTCOME.unknown, OUTCOME.unknown])
    await assertLedger(ports)
  },

  'a decided part of a text over SMPP is dropped when it is old enough, and a waiting one never': async (ports) => {
    const { account, credential } = await aCustomer(ports)
    const add = async (reference: string) => {
      const part = await ports.smppParts.add(aPart(credential, [1, 2], { reference }), 10)
      return typeof part === 'string' ? assert.fail(part) : part.id
    }
    const ids = [await add('8:1'), await add('8:2')]
    assert.ok(await ports.smppParts.refuse(ids.slice(0, 1), OUTCOME.optedOut))
    await dropAll(ports)
    assert.deepEqual(await codesOf(ports, account.id, ids), [OUTCOME.optedOut, 'waiting'])
    await until(async () => {
      await dropAll(ports, 0)
      return (await codesOf(ports, account.id, ids))[0] === 'not-found'
    })
    assert.deepEqual(await codesOf(ports, account.id, ids), ['not-found', 'waiting'])
  },

  'skipping returns an id above all issued ones and advances by the requested blocks; sending continues after it':
    async (ports) => {
      const { id } = await anAccount(ports, { credits: 1000 })
      const before = await accepted(ports, anOrder(id, { to: numbers(3) }))
      const first = await ports.history.skipIds(3)
      assert.ok(first > Math.max(...before.ids) + 20_000, `${first}`)
      const others = await Promise.all([1, 1200, 1].map((blocks) => ports.history.skipIds(blocks)))
      assert.equal(new Set(others).size, 3)
      assert.ok(Math.max(...others) >= first + 12_000_000, `${Math.max(...others)}`)
      const after = await accepted(ports, anOrder(id, { to: numbers(3) }))
      assert.equal(new Set([...before.ids, ...after.ids]).size, 6)
      assert.equal((await dispatchDue(ports, 'single', () => ({ outcome: 'unknown' }))).length, 6)
      await assertLedger(ports)
    },

  'with concurrent drops, acceptances and outcomes every balance is the sum of its entries': async (ports) => {
    const { id } = await anAccount(ports, { credits: 1000 })
    const work = Array.from({ length: 20 }, async (_, i) => {
      await accepted(ports, anOrder(id, { to: numbers(3) }))
      if (i % 4 === 0) await dispatchDue(ports, 'single', () => ({ outcome: i % 8 === 0 ? 'refused' : 'unknown' }))
      await ports.history.drop(0, contactDays)
      await assertLedger(ports)
    })
    await Promise.all(work)
    await assertLedger(ports)
  },
}
