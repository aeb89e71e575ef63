import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import {
  balanceMax,
  credits,
  instant,
  minus,
  plus,
  type AccountId,
  type Credits,
  type StoredPorts,
} from '@gateway/core'
import { anAccount, anOrder, numbers } from '../../builders.ts'
import { anAccountId } from '../../ids.ts'
import { checkGenerated } from '../check-generated.ts'
import type { Contract } from '../contract.ts'
import { accepted, assertLedger, at, callersMany } from '../shared.ts'
import { balanceAfter, transferFailure } from '../specification/accounts.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))
const stranger = anAccountId(2 ** 31 - 8)

const moved = ({ ledger }: StoredPorts, from: AccountId, to: AccountId, amount: number) =>
  ledger.transfer({ from, to, amount: credits(amount) }, now)

const balances = ({ ledger }: StoredPorts, ids: readonly AccountId[]) =>
  Promise.all(ids.map((id) => ledger.balance(id)))

async function accounts(ports: StoredPorts, ...granted: readonly number[]): Promise<readonly AccountId[]> {
  const ids: AccountId[] = []
  for (const credits of granted) ids.push((await anAccount(ports, { credits })).id)
  return ids
}

const amounts = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: balanceMax - 40, max: balanceMax }))

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('transfer', 'transfer', 'top-up', 'take-back', 'lock', 'unlock'),
    from: fc.nat({ max: 2 }),
    to: fc.nat({ max: 1 }),
    amount: amounts,
  }),
  { minLength: 20, maxLength: 40 },
)

/** Moving credits from one account to another. */
export const transfers: Contract<StoredPorts> = {
  'a transfer takes from the one what it gives to the other, and changes no third': async (ports) => {
    const [a, b, c] = (await accounts(ports, 100, 20, 7)) as [AccountId, AccountId, AccountId]
    assert.equal(await moved(ports, a, b, 30), 'done')
    assert.deepEqual(await balances(ports, [a, b, c]), [70, 50, 7])
    assert.equal(await moved(ports, b, a, 1), 'done')
    assert.deepEqual(await balances(ports, [a, b, c]), [71, 49, 7])
    await assertLedger(ports, 127)
  },

  'a whole balance can move, and not a tenth more': async (ports) => {
    const [a, b] = (await accounts(ports, 100, 0)) as [AccountId, AccountId]
    assert.equal(await moved(ports, a, b, 101), 'insufficient-credits')
    assert.deepEqual(await balances(ports, [a, b]), [100, 0])
    assert.equal(await moved(ports, a, b, 100), 'done')
    assert.deepEqual(await balances(ports, [a, b]), [0, 100])
    assert.equal(await moved(ports, a, b, 1), 'insufficient-credits')
    await assertLedger(ports, 100)
  },

  'of several reasons against it the first counts: giver locked, taker locked, too few credits': async (ports) => {
    const [a, b] = (await accounts(ports, 100, 0)) as [AccountId, AccountId]
    const both = [true, false] as const
    for (const from of both) {
      for (const to of both) {
        await ports.accounts.setLocked(a, from)
        await ports.accounts.setLocked(b, to)
        for (const amount of [10, 1000]) {
          const few = amount > 100 ? 'insufficient-credits' : 'done'
          assert.equal(await moved(ports, a, b, amount), from ? 'from-account-locked' : to ? 'to-account-locked' : few)
        }
      }
    }
    assert.deepEqual(await balances(ports, [a, b]), [90, 10])
    await assertLedger(ports, 100)
  },

  'of generated transfers, top-ups and locks each ends as the rules say': async (ports) => {
    await checkGenerated(steps, 5, async (all) => {
      const ids = await accounts(ports, 20, 0, 5)
      const held = ids.map((id, i) => ({ id, locked: false, balance: credits([20, 0, 5][i] ?? 0) }))
      const topUp = async (holder: (typeof held)[number], amount: Credits) => {
        const balance = balanceAfter(holder.balance, amount)
        assert.equal(await ports.ledger.topUp(holder.id, amount, 'generated', now), balance ?? 'out-of-range')
        holder.balance = balance ?? holder.balance
      }
      for (const { what, ...step } of all) {
        const [from, to] = [at(held, step.from), at(held, (step.from + 1 + step.to) % 3)]
        const amount = credits(step.amount)
        if (what === 'top-up') await topUp(from, amount)
        else if (what === 'take-back') await topUp(from, minus(credits(0), amount))
        else if (what === 'transfer') {
          const failure = transferFailure(from, to, amount)
          assert.equal(await moved(ports, from.id, to.id, amount), failure ?? 'done')
          if (failure !== undefined) continue
          from.balance = minus(from.balance, amount)
          to.balance = plus(to.balance, amount)
        } else {
          from.locked = what === 'lock'
          await ports.accounts.setLocked(from.id, from.locked)
        }
      }
      assert.deepEqual(
        await balances(ports, ids),
        held.map(({ balance }) => balance),
      )
      // For the check, all balances together must be a number too.
      for (const { id, balance } of held) await ports.ledger.topUp(id, minus(credits(0), balance), 'emptied', now)
      assert.deepEqual((await ports.ledger.check()).differences, [])
    })
  },

  'what would be more than a balance can hold does not move': async (ports) => {
    const [a, b] = (await accounts(ports, 100, 0)) as [AccountId, AccountId]
    await ports.ledger.topUp(b, credits(Number.MAX_SAFE_INTEGER - 50), 'rich', now)
    assert.equal(await moved(ports, a, b, 51), 'failed')
    assert.deepEqual(await balances(ports, [a, b]), [100, Number.MAX_SAFE_INTEGER - 50])
  },

  'nothing, less than nothing, to itself, and to or from an account that is not there: an error, and nothing moves':
    async (ports) => {
      const [a, b] = (await accounts(ports, 100, 100)) as [AccountId, AccountId]
      for (const [from, to, amount] of [
        [a, b, 0],
        [a, b, -10],
        [a, a, 10],
        [a, stranger, 10],
        [stranger, b, 10],
      ] as const) {
        await assert.rejects(moved(ports, from, to, amount))
      }
      assert.deepEqual(await balances(ports, [a, b]), [100, 100])
      await assertLedger(ports, 200)
    },

  '64 transfers in all directions among five accounts at the same time: the sum is constant and each counts once':
    async (ports) => {
      const ids = await accounts(ports, 100, 100, 100, 100, 100)
      const wanted = Array.from({ length: callersMany }, (_, i) => ({
        from: at(ids, i % 5),
        to: at(ids, (i + 1 + (i % 4)) % 5),
        amount: 10 + 7 * (i % 9),
      }))
      const results = await Promise.all(wanted.map(({ from, to, amount }) => moved(ports, from, to, amount)))
      for (const result of results) assert.ok(result === 'done' || result === 'insufficient-credits', result)
      const expected = ids.map((id) =>
        wanted.reduce((sum, { from, to, amount }, i) => {
          if (results[i] !== 'done') return sum
          return sum + (to === id ? amount : 0) - (from === id ? amount : 0)
        }, 100),
      )
      assert.deepEqual(await balances(ports, ids), expected)
      for (const balance of expected) assert.ok(balance >= 0)
      await assertLedger(ports, 500)
    },

  'two accounts that send each other credits at the same time, while both send messages, lose and gain nothing': async (
    ports,
  ) => {
    const [a, b] = (await accounts(ports, 2000, 2000)) as [AccountId, AccountId]
    const results = await Promise.all(
      Array.from({ length: callersMany }, async (_, i) => {
        if (i % 4 === 3) return (await accepted(ports, anOrder(i % 8 > 3 ? a : b, { to: numbers(2) }))).ids.length
        return moved(ports, i % 2 === 0 ? a : b, i % 2 === 0 ? b : a, 10)
      }),
    )
    const spent = results.reduce((sum: number, result) => sum + (typeof result === 'number' ? result * 10 : 0), 0)
    assert.deepEqual(new Set(results.filter((result) => typeof result === 'string')), new Set(['done']))
    await assertLedger(ports, 4000 - spent)
  },

  'of many transfers of the last credits exactly those happen that fit': async (ports) => {
    const [a, b] = (await accounts(ports, 100, 0)) as [AccountId, AccountId]
    const results = await Promise.all(Array.from({ length: callersMany }, () => moved(ports, a, b, 10)))
    assert.equal(results.filter((result) => result === 'done').length, 10)
    assert.equal(results.filter((result) => result === 'insufficient-credits').length, callersMany - 10)
    assert.deepEqual(await balances(ports, [a, b]), [0, 100])
    await assertLedger(ports, 100)
  },

  'once a lock is set nothing moves any more, however many transfers run at that moment': async (ports) => {
    const [a, b] = (await accounts(ports, 10_000, 0)) as [AccountId, AccountId]
    const race = Promise.all(Array.from({ length: callersMany }, () => moved(ports, a, b, 10)))
    await ports.accounts.setLocked(b, true)
    assert.equal(await moved(ports, a, b, 10), 'to-account-locked')
    const seen = await ports.ledger.balance(b)
    const results = await race
    assert.deepEqual(await ports.ledger.balance(b), seen)
    assert.equal(results.filter((result) => result === 'done').length * 10, seen)
    for (const result of results) assert.ok(result === 'done' || result === 'to-account-locked', result)
  },
}
