import { strict as assert } from 'node:assert'
import {
  credits,
  limits,
  OUTCOME,
  secondsAfter,
  type AccountId,
  type Movement,
  type Period,
  type StoredPorts,
} from '@gateway/core'
import { anAccountId } from '../../ids.ts'
import { anAccount, anOrder, numbers } from '../../builders.ts'
import type { Contract } from '../contract.ts'
import { accepted, assertLedger, at, callersMany, collect, dispatchDue, farAhead, longAgo } from '../shared.ts'

const movementsOf = async ({ ledger }: StoredPorts, id: AccountId, period: Period = {}): Promise<readonly Movement[]> =>
  (await collect(ledger.movements(id, period, limits.statusDays))).flat()

/** By time, each beginning with what the one before left, from nothing to the balance. */
async function assertWhole(ports: StoredPorts, id: AccountId): Promise<readonly Movement[]> {
  const all = await movementsOf(ports, id)
  let before = { at: longAgo, balance: 0 }
  for (const movement of all) {
    assert.ok(movement.at >= before.at, 'by time')
    assert.equal(movement.balance, before.balance + movement.amount)
    before = movement
  }
  return all
}

/** What the port `Ledger` promises of its movements. */
export const movements: Contract<StoredPorts> = {
  'the movements of all accounts are those of each, one account after the other by id': async (ports) => {
    const main = await anAccount(ports, { credits: 1000 })
    const sub = await anAccount(ports, { credits: 50, parent: main.id })
    const { at: opened } = at(await movementsOf(ports, sub.id), 0)
    await ports.ledger.transfer({ from: main.id, to: sub.id, amount: credits(20) }, opened)
    await accepted(ports, anOrder(sub.id, { to: numbers(2), costs: [5] }))
    await accepted(ports, anOrder(main.id, { to: numbers(3), costs: [25] }))
    for (const period of [{}, { from: longAgo }, { to: farAhead }, { from: farAhead }]) {
      const all = (await collect(ports.ledger.movements('all', period, limits.statusDays))).flat()
      const each = [...(await movementsOf(ports, main.id, period)), ...(await movementsOf(ports, sub.id, period))]
      assert.deepEqual(all, each)
    }
  },

  'every movement of an account is told with its cause and the balance after it, and of no other account': async (
    ports,
  ) => {
    const main = await anAccount(ports, { credits: 1000 })
    const sub = await anAccount(ports, { credits: 50, parent: main.id })
    const { at: opened } = at(await movementsOf(ports, sub.id), 0)
    await ports.ledger.topUp(main.id, credits(-30), 'a "correction", =1+1', opened)
    await ports.ledger.transfer({ from: main.id, to: sub.id, amount: credits(20) }, opened)
    const { ids } = await accepted(ports, anOrder(main.id, { to: numbers(3), costs: [25] }))
    await dispatchDue(ports, 'single', ({ id }) =>
      id === ids[0] ? { outcome: 'refused' } : { outcome: 'accepted', reference: String(id) },
    )
    const all = await assertWhole(ports, main.id)
    assert.deepEqual(
      all.map(({ amount, balance, cause }) => ({ amount, balance, ...cause })),
      [
        { amount: 1000, balance: 1000, kind: 'top-up', why: 'opened' },
        { amount: -30, balance: 970, kind: 'top-up', why: 'a "correction", =1+1' },
        { amount: -20, balance: 950, kind: 'transfer', account: sub.id },
        { amount: -75, balance: 875, kind: 'send', first: ids[0], messages: 3 },
        { amount: 25, balance: 900, kind: 'refund', first: ids[0], code: OUTCOME.refused },
      ],
    )
    assert.equal(await ports.ledger.balance(main.id), 900)
    const others = (await assertWhole(ports, sub.id)).map(({ cause }) => cause)
    assert.deepEqual(others, [
      { kind: 'top-up', why: 'opened' },
      { kind: 'transfer', account: main.id },
    ])
  },

  'a deleted message is a refund; what costs nothing moves nothing; each price of a text is a debit': async (ports) => {
    const { id } = await anAccount(ports, { credits: 100 })
    await accepted(ports, anOrder(id, { to: numbers(2), costs: [0] }))
    const priced = await accepted(ports, anOrder(id, { to: numbers(4), costs: [10, 10, 5], due: farAhead }))
    await ports.messages.deleteScheduled(id, [at(priced.ids, 1)], longAgo)
    const [, ...after] = await assertWhole(ports, id)
    assert.deepEqual(
      after.map(({ amount, cause }) => [cause.kind, amount]),
      [
        ['send', -20],
        ['send', -10],
        ['refund', 10],
      ],
    )
    const sends = after.flatMap(({ cause }) => (cause.kind === 'send' ? [[cause.first, cause.messages]] : []))
    assert.deepEqual(sends, [
      [priced.ids[0], 2],
      [priced.ids[2], 2],
    ])
    assert.deepEqual(after[2]?.cause.kind === 'refund' && after[2].cause.code, OUTCOME.cancelled)
    await assertLedger(ports, 80)
  },

  'a period has what lies from its beginning to before its end, each with the balance that it has in the whole': async (
    ports,
  ) => {
    const { id } = await anAccount(ports, { credits: 100 })
    const begin = secondsAfter(longAgo, 3600)
    for (let i = 0; i < 10; i++) await ports.ledger.topUp(id, credits(i + 1), `${i}`, secondsAfter(begin, i))
    await accepted(ports, anOrder(id, { to: numbers(2) }))
    const all = await assertWhole(ports, id)
    assert.equal(all.length, 12)
    for (const [from, to] of [
      [0, 10],
      [2, 5],
      [5, 5],
      [3, undefined],
      [undefined, 4],
      [20, undefined],
    ] as const) {
      const bound = (seconds: number | undefined) => (seconds === undefined ? undefined : secondsAfter(begin, seconds))
      const period = { from: bound(from), to: bound(to) }
      const expected = all.filter((one) => one.at >= (period.from ?? longAgo) && one.at < (period.to ?? farAhead))
      assert.deepEqual(await movementsOf(ports, id, period), expected)
    }
  },

  'an account that is not there has no movements, and a reader who leaves in the middle hinders nobody': async (
    ports,
  ) => {
    const { id } = await anAccount(ports, { credits: 0 })
    assert.deepEqual(await movementsOf(ports, anAccountId(id + 1)), [])
    await Promise.all(Array.from({ length: 1100 }, () => ports.ledger.topUp(id, credits(1), 'many', longAgo)))
    for (let i = 0; i < 20; i++) {
      for await (const some of ports.ledger.movements(id, {}, limits.statusDays)) {
        assert.ok(some.length > 0)
        break
      }
    }
    assert.equal((await assertWhole(ports, id)).length, 1101)
    await assertLedger(ports, 1100)
  },

  'at every moment of a race of sends, refunds, top-ups and transfers the movements add up to a balance': async (
    ports,
  ) => {
    const [a, b] = [await anAccount(ports, { credits: 5000 }), await anAccount(ports, { credits: 5000 })]
    let running = true
    const look = async () => {
      while (running) await assertWhole(ports, a.id)
    }
    const work = Array.from({ length: callersMany }, async (_, i) => {
      await accepted(ports, anOrder(i % 2 ? a.id : b.id, { to: numbers(3) }))
      await ports.ledger.topUp(a.id, credits(i % 3 ? 5 : -5), 'race', farAhead)
      await ports.ledger.transfer({ from: i % 2 ? a.id : b.id, to: i % 2 ? b.id : a.id, amount: credits(10) }, farAhead)
      if (i % 8 === 0) await dispatchDue(ports, 'single', () => ({ outcome: 'refused' }))
    })
    await Promise.all([Promise.all(work).finally(() => (running = false)), look()])
    for (const { id } of [a, b]) {
      assert.equal((await assertWhole(ports, id)).at(-1)?.balance, await ports.ledger.balance(id))
    }
    await assertLedger(ports)
  },
}
