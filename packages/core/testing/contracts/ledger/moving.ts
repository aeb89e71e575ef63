import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import { limits, type StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { balanceMax, credits, minus, plus, type Credits, type Movement, type Period } from '@gateway/core/credits'
import { OUTCOME } from '@gateway/core/messages'
import { instant, secondsAfter } from '@gateway/core/time'
import { anAccount, anAccountId, anOrder, aReference, numbers } from '../../builders.ts'
import {
  accepted,
  assertLedger,
  at,
  concurrentCallers,
  checkGenerated,
  collect,
  dispatchDue,
  farAhead,
  longAgo,
  type Contract,
} from '../shared.ts'
import { balanceAfter, transferFailure } from '../specification/accounts.ts'
import { pageOfStatement } from '../specification/statement-page.ts'

const movementsOf = async ({ ledger }: StoredPorts, id: AccountId, period: Period = {}): Promise<readonly Movement[]> =>
  (await collect(ledger.movements(id, period, limits.statusDays))).flat()

/**
 * Asserts that the movements of an account are in order of time, that each starts from the balance after the one
 * before, and that they lead from 0.0 to the present balance.
 */
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

/** Contract of the port `Ledger`: movements. */
export const movements: Contract<StoredPorts> = {
  'the movements of all accounts are those of each account, one after the other by id': async (ports) => {
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

  'every movement of an account is listed with its cause and the balance after it, and none of other accounts': async (
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

  'a deleted message causes a refund; free messages cause no movement; each price of a text is a separate debit':
    async (ports) => {
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

  'a period includes its start and excludes its end, and balances are those of the whole list': async (ports) => {
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

  'a statement has one line for all texts of a bulk send and one for its refunds, and each balance follows from the line before':
    async (ports) => {
      const { id } = await anAccount(ports, { credits: 1000 })
      const columns = { columns: ['Name'], text: '{Name}', scheduled: undefined, key: 'k' }
      const send = await ports.bulkSends.add(id, columns, [[], []])
      assert.equal(await ports.bulkSends.start(id, send, 0), true)
      const order = (count: number) => anOrder(id, { to: numbers(count), costs: [10], due: farAhead })
      const first = [await accepted(ports, order(2)), await accepted(ports, order(1))]
      // The ids of this order lie between those of the two orders of the bulk send, but its messages and its refund do
      // not belong to that bulk send.
      const apart = await accepted(ports, order(3))
      const second = await accepted(ports, order(4))
      const runs = (all: readonly (typeof apart)[]) =>
        all.map(({ ids }) => [Math.min(...ids), Math.max(...ids)] as never)
      const ended = { cost: credits(0), refusedRows: [] }
      await ports.bulkSends.end(send, 0, { ...ended, accepted: runs(first), messages: 3 })
      await ports.bulkSends.end(send, 1, { ...ended, accepted: runs([second]), messages: 4 })
      for (const { ids } of [...first, apart, second])
        await ports.messages.deleteScheduled(id, ids.slice(0, 1), longAgo)
      const lines = (await collect(ports.ledger.statement(id, {}, limits.statusDays))).flat()
      assert.deepEqual(
        lines.map(({ amount, balance, cause }) => [
          cause.kind,
          amount,
          balance,
          'bulk' in cause ? cause.bulk : undefined,
        ]),
        [
          ['top-up', 1000, 1000, undefined],
          ['send', -70, 930, send],
          ['send', -30, 900, undefined],
          ['refund', 30, 930, send],
          ['refund', 10, 940, undefined],
        ],
      )
      const [, ofSend] = lines
      assert.equal(ofSend?.cause.kind === 'send' ? ofSend.cause.messages : 0, 7)
      assert.equal(await ports.ledger.balance(id), 940)
      assert.deepEqual(await collect(ports.ledger.statement(id, { from: farAhead }, limits.statusDays)), [])
      const other = await anAccount(ports)
      const others = (await collect(ports.ledger.statement(other.id, {}, limits.statusDays))).flat()
      assert.ok(others.every(({ account }) => account === other.id))
    },

  'a page of a statement has the lines of the whole statement, with its sums and balances': async (ports) => {
    const { id } = await anAccount(ports, { credits: 1000 })
    const sub = await anAccount(ports, { credits: 0, parent: id })
    const bulk = { columns: ['Name'], text: '{Name}', scheduled: undefined, key: 'k' }
    const sends = await Promise.all([1, 2].map(() => ports.bulkSends.add(id, bulk, [[]])))
    const texts: Awaited<ReturnType<typeof accepted>>[] = []
    for (const [i, count] of [3, 1, 4, 1, 5, 2].entries()) {
      const references = i === 1 ? [aReference('order 7')] : []
      texts.push(await accepted(ports, anOrder(id, { to: numbers(count), costs: [10], due: farAhead, references })))
    }
    const begin = secondsAfter(longAgo, 3600)
    await ports.ledger.topUp(id, credits(500), 'early', begin)
    await ports.ledger.topUp(id, credits(-30), 'taken', secondsAfter(begin, 1))
    await ports.ledger.transfer({ from: id, to: sub.id, amount: credits(20) }, secondsAfter(begin, 2))
    const runs = (all: readonly number[]) =>
      all.map((i) => [Math.min(...at(texts, i).ids), Math.max(...at(texts, i).ids)] as never)
    const ended = { cost: credits(0), refusedRows: [], messages: 0 }
    for (const [send, calls] of [[at(sends, 0), [0, 2]] as const, [at(sends, 1), [3, 4]] as const]) {
      assert.equal(await ports.bulkSends.start(id, send, 0), true)
      await ports.bulkSends.end(send, 0, { ...ended, accepted: runs(calls) })
    }
    for (const { ids } of texts) await ports.messages.deleteScheduled(id, ids.slice(0, 1), longAgo)
    const last = secondsAfter(begin, 1)
    for (const period of [{}, { from: last }, { to: last }, { from: begin, to: last }, { from: farAhead }]) {
      const lines = (await collect(ports.ledger.statement(id, period, limits.statusDays))).flat()
      const before = period.from === undefined ? [] : await movementsOf(ports, id, { to: period.from })
      const begins = before.at(-1)?.balance ?? credits(0)
      for (const place of [
        { offset: 0, limit: 100 },
        { offset: 0, limit: 3 },
        { offset: 3, limit: 4 },
        { offset: lines.length, limit: 5 },
      ])
        assert.deepEqual(
          await ports.ledger.statementPage(id, period, limits.statusDays, place),
          pageOfStatement(lines, begins, place),
        )
    }
    const stranger = await ports.ledger.statementPage(anAccountId(sub.id + 1), {}, limits.statusDays, {
      offset: 0,
      limit: 5,
    })
    assert.deepEqual(stranger, pageOfStatement([], credits(0), { offset: 0, limit: 5 }))
  },

  'an unknown account has no movements, and a reader that stops early blocks nobody': async (ports) => {
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

  'readers that stop early hold no lock, and later movements are not in their lists': async (ports) => {
    const { id } = await anAccount(ports, { credits: 0 })
    await Promise.all(Array.from({ length: 1100 }, () => ports.ledger.topUp(id, credits(1), 'many', longAgo)))
    const readers = Array.from({ length: 30 }, () =>
      ports.ledger.movements(id, {}, limits.statusDays)[Symbol.asyncIterator](),
    )
    const pieces = await Promise.all(readers.map((reader) => reader.next()))
    assert.equal(await ports.ledger.topUp(id, credits(5), 'later', farAhead), 1105)
    await accepted(ports, anOrder(id, { to: numbers(1), costs: [3] }))
    for (const [i, reader] of readers.entries()) {
      const piece = pieces[i]
      const read: Movement[] = piece?.done === false ? [...piece.value] : []
      assert.ok(read.length > 0 && read.length < 1100)
      for (let next = await reader.next(); next.done !== true; next = await reader.next()) read.push(...next.value)
      assert.deepEqual([read.length, read.at(-1)?.balance], [1101, 1100])
    }
    assert.equal((await assertWhole(ports, id)).at(-1)?.balance, 1102)
  },

  'at every moment of concurrent sends, refunds, top-ups and transfers the movements add up to a balance': async (
    ports,
  ) => {
    const [a, b] = [await anAccount(ports, { credits: 5000 }), await anAccount(ports, { credits: 5000 })]
    let running = true
    const look = async () => {
      while (running) await assertWhole(ports, a.id)
    }
    const work = Array.from({ length: concurrentCallers }, async (_, i) => {
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
    kind: fc.constantFrom('transfer', 'transfer', 'top-up', 'take-back', 'lock', 'unlock'),
    from: fc.nat({ max: 2 }),
    to: fc.nat({ max: 1 }),
    amount: amounts,
  }),
  { minLength: 20, maxLength: 40 },
)

/** Contract of transfers between accounts. */
export const transfers: Contract<StoredPorts> = {
  'a transfer subtracts from one account what it adds to the other, and changes no third': async (ports) => {
    const [a, b, c] = (await accounts(ports, 100, 20, 7)) as [AccountId, AccountId, AccountId]
    assert.equal(await moved(ports, a, b, 30), 'done')
    assert.deepEqual(await balances(ports, [a, b, c]), [70, 50, 7])
    assert.equal(await moved(ports, b, a, 1), 'done')
    assert.deepEqual(await balances(ports, [a, b, c]), [71, 49, 7])
    await assertLedger(ports, 127)
  },

  'the whole balance can be transferred, and not a tenth more': async (ports) => {
    const [a, b] = (await accounts(ports, 100, 0)) as [AccountId, AccountId]
    assert.equal(await moved(ports, a, b, 101), 'insufficient-credits')
    assert.deepEqual(await balances(ports, [a, b]), [100, 0])
    assert.equal(await moved(ports, a, b, 100), 'done')
    assert.deepEqual(await balances(ports, [a, b]), [0, 100])
    assert.equal(await moved(ports, a, b, 1), 'insufficient-credits')
    await assertLedger(ports, 100)
  },

  'the first of several reasons against a transfer wins: giver locked, receiver locked, insufficient credits': async (
    ports,
  ) => {
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

  'generated transfers, top-ups and locks end by the rules': async (ports) => {
    await checkGenerated(steps, 5, async (all) => {
      const ids = await accounts(ports, 20, 0, 5)
      const accountStates = ids.map((id, i) => ({ id, locked: false, balance: credits([20, 0, 5][i] ?? 0) }))
      const topUp = async (holder: (typeof accountStates)[number], amount: Credits) => {
        const balance = balanceAfter(holder.balance, amount)
        assert.equal(await ports.ledger.topUp(holder.id, amount, 'generated', now), balance ?? 'out-of-range')
        holder.balance = balance ?? holder.balance
      }
      for (const { kind, ...step } of all) {
        const [from, to] = [at(accountStates, step.from), at(accountStates, (step.from + 1 + step.to) % 3)]
        const amount = credits(step.amount)
        if (kind === 'top-up') await topUp(from, amount)
        else if (kind === 'take-back') await topUp(from, minus(credits(0), amount))
        else if (kind === 'transfer') {
          const failure = transferFailure(from, to, amount)
          assert.equal(await moved(ports, from.id, to.id, amount), failure ?? 'done')
          if (failure !== undefined) continue
          from.balance = minus(from.balance, amount)
          to.balance = plus(to.balance, amount)
        } else {
          from.locked = kind === 'lock'
          await ports.accounts.setLocked(from.id, from.locked)
        }
      }
      assert.deepEqual(
        await balances(ports, ids),
        accountStates.map(({ balance }) => balance),
      )
      // The check adds up all balances, so their sum must be a safe integer too.
      for (const { id, balance } of accountStates)
        await ports.ledger.topUp(id, minus(credits(0), balance), 'emptied', now)
      assert.deepEqual((await ports.ledger.check()).differences, [])
    })
  },

  'a transfer that would exceed the maximum balance is refused': async (ports) => {
    const [a, b] = (await accounts(ports, 100, 0)) as [AccountId, AccountId]
    await ports.ledger.topUp(b, credits(Number.MAX_SAFE_INTEGER - 50), 'rich', now)
    assert.equal(await moved(ports, a, b, 51), 'failed')
    assert.deepEqual(await balances(ports, [a, b]), [100, Number.MAX_SAFE_INTEGER - 50])
  },

  'a transfer of nothing or a negative amount, to the same account, or with an unknown account throws and moves nothing':
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

  '64 concurrent transfers among five accounts keep the sum constant, and each counts once': async (ports) => {
    const ids = await accounts(ports, 100, 100, 100, 100, 100)
    const orders = Array.from({ length: concurrentCallers }, (_, i) => ({
      from: at(ids, i % 5),
      to: at(ids, (i + 1 + (i % 4)) % 5),
      amount: 10 + 7 * (i % 9),
    }))
    const results = await Promise.all(orders.map(({ from, to, amount }) => moved(ports, from, to, amount)))
    for (const result of results) assert.ok(result === 'done' || result === 'insufficient-credits', result)
    const expected = ids.map((id) =>
      orders.reduce((sum, { from, to, amount }, i) => {
        if (results[i] !== 'done') return sum
        return sum + (to === id ? amount : 0) - (from === id ? amount : 0)
      }, 100),
    )
    assert.deepEqual(await balances(ports, ids), expected)
    for (const balance of expected) assert.ok(balance >= 0)
    await assertLedger(ports, 500)
  },

  'concurrent transfers in both directions between two sending accounts lose and create no credits': async (ports) => {
    const [a, b] = (await accounts(ports, 2000, 2000)) as [AccountId, AccountId]
    const results = await Promise.all(
      Array.from({ length: concurrentCallers }, async (_, i) => {
        if (i % 4 === 3) return (await accepted(ports, anOrder(i % 8 > 3 ? a : b, { to: numbers(2) }))).ids.length
        return moved(ports, i % 2 === 0 ? a : b, i % 2 === 0 ? b : a, 10)
      }),
    )
    const spent = results.reduce((sum: number, result) => sum + (typeof result === 'number' ? result * 10 : 0), 0)
    assert.deepEqual(new Set(results.filter((result) => typeof result === 'string')), new Set(['done']))
    await assertLedger(ports, 4000 - spent)
  },

  'of concurrent transfers of the last credits exactly as many succeed as fit': async (ports) => {
    const [a, b] = (await accounts(ports, 100, 0)) as [AccountId, AccountId]
    const results = await Promise.all(Array.from({ length: concurrentCallers }, () => moved(ports, a, b, 10)))
    assert.equal(results.filter((result) => result === 'done').length, 10)
    assert.equal(results.filter((result) => result === 'insufficient-credits').length, concurrentCallers - 10)
    assert.deepEqual(await balances(ports, [a, b]), [0, 100])
    await assertLedger(ports, 100)
  },

  'after a lock is set nothing moves any more, however many transfers run at that moment': async (ports) => {
    const [a, b] = (await accounts(ports, 10_000, 0)) as [AccountId, AccountId]
    const race = Promise.all(Array.from({ length: concurrentCallers }, () => moved(ports, a, b, 10)))
    await ports.accounts.setLocked(b, true)
    assert.equal(await moved(ports, a, b, 10), 'to-account-locked')
    const seen = await ports.ledger.balance(b)
    const results = await race
    assert.deepEqual(await ports.ledger.balance(b), seen)
    assert.equal(results.filter((result) => result === 'done').length * 10, seen)
    for (const result of results) assert.ok(result === 'done' || result === 'to-account-locked', result)
  },
}
