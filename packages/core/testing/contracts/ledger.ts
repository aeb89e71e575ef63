import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { credits } from '@gateway/core/credits'
import type { Handover } from '@gateway/core/dispatch'
import { OUTCOME, type MessageTrace } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { aMessageId, anAccount, anAccountId, anOrder, numbers } from '../builders.ts'
import { movements, transfers } from './ledger/moving.ts'
import {
  combined,
  accepted,
  assertLedger,
  at,
  concurrentCallers,
  codesOf,
  collect,
  dispatchDue,
  farAhead,
  inTenths,
  statusesOf,
  testCarrier,
  type Contract,
} from './shared.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))
const stranger = anAccountId(2 ** 31 - 8)

/** Sends messages of 2.5 credits for an account with 7.5 credits left, and records their outcome. */
async function dispatched(ports: StoredPorts, handover: Handover, count = 1) {
  const account = await anAccount(ports, { credits: 75 + 25 * count })
  const { ids } = await accepted(ports, anOrder(account.id, { to: numbers(count), costs: [25] }))
  await dispatchDue(ports, 'single', () => handover)
  return {
    account,
    ids,
    id: at(ids, 0),
    refund: (message = at(ids, 0)) => ports.ledger.refund({ message, why: 'complaint' }, now),
  }
}

const isRefunded = (trace: MessageTrace | undefined) =>
  trace?.place.place === 'decided' ? trace.place.refunded : undefined

/** Contract of the port `Ledger`: refunds by hand. */
const refunds: Contract<StoredPorts> = {
  'the charge of a message that a carrier accepted, or may have, is refunded once, to the charged account, with the reason':
    async (ports) => {
      for (const handover of [{ outcome: 'accepted', reference: 'r' }, { outcome: 'unknown' }] as const) {
        const { account, id, refund } = await dispatched(ports, handover)
        assert.deepEqual(await refund(), { account: account.id, amount: 25, balance: 100 })
        assert.equal(await refund(), 'refunded-already')
        assert.equal(await ports.ledger.balance(account.id), 100)
        const movements = (await collect(ports.ledger.movements(account.id, {}, 90))).flat()
        assert.deepEqual(
          movements.find(({ cause }) => cause.kind === 'refund-by-hand'),
          {
            ...{
              account: account.id,
              at: now,
              amount: 25,
              cause: { kind: 'refund-by-hand', message: id, why: 'complaint' },
            },
            balance: movements.find(({ cause }) => cause.kind === 'refund-by-hand')?.balance,
          },
        )
        const [status] = await statusesOf(ports, account.id, [id])
        assert.equal(typeof status === 'object' && status.cost, 0)
        await assertLedger(ports)
      }
    },

  'of concurrent refunds of one message one succeeds': async (ports) => {
    const { account, refund } = await dispatched(ports, { outcome: 'accepted', reference: 'r' })
    const results = await Promise.all(Array.from({ length: concurrentCallers }, () => refund()))
    assert.equal(results.filter((result) => typeof result === 'object').length, 1)
    assert.equal(results.filter((result) => result === 'refunded-already').length, concurrentCallers - 1)
    assert.equal(await ports.ledger.balance(account.id), 100)
    await assertLedger(ports)
  },

  'a message that waits, was refunded automatically, was deleted, was free or does not exist is not refunded by hand':
    async (ports) => {
      const refused = await dispatched(ports, { outcome: 'refused' })
      assert.equal(await refused.refund(), 'refunded-already')
      const { id: account } = await anAccount(ports, { credits: 100 })
      const { ids } = await accepted(ports, anOrder(account, { to: numbers(1), costs: [10] }))
      assert.equal(await refused.refund(at(ids, 0)), 'waiting')
      const later = await accepted(ports, anOrder(account, { to: numbers(1), costs: [10], due: farAhead }))
      assert.equal(await refused.refund(at(later.ids, 0)), 'waiting')
      await ports.messages.deleteScheduled(account, later.ids, now)
      assert.equal(await refused.refund(at(later.ids, 0)), 'refunded-already')
      const free = await accepted(ports, anOrder(account, { to: numbers(1), costs: [0] }))
      await dispatchDue(ports, 'single', () => ({ outcome: 'accepted', reference: 'f' }))
      assert.equal(await refused.refund(at(free.ids, 0)), 'nothing-charged')
      assert.equal(await refused.refund(aMessageId(2 ** 40)), 'no-such-message')
      assert.equal(await ports.ledger.balance(account), 90)
      await assertLedger(ports)
    },

  'a message that was refunded by hand is not refunded again when a late report says that no carrier accepted it':
    async (ports) => {
      const { claimedBatches, ledger } = ports
      const account = await anAccount(ports, { credits: 100 })
      const { ids } = await accepted(ports, anOrder(account.id, { to: numbers(1), costs: [10] }))
      const dispatcher = await claimedBatches.register(600)
      const claimRequest = {
        carrier: testCarrier,
        lane: 'single',
        messagesMax: 9,
        markedMax: 9,
        leaseSeconds: 600,
      } as const
      const batch = await claimedBatches.claim(dispatcher, claimRequest)
      if (typeof batch === 'string') assert.fail(batch)
      const record = (handover: Handover) =>
        claimedBatches.record(
          dispatcher,
          batch.messages.map((message) => ({ batch: batch.id, message, handover })),
        )
      await record({ outcome: 'unknown' })
      assert.equal(typeof (await ledger.refund({ message: at(ids, 0), why: 'unknown' }, now)), 'object')
      await record({ outcome: 'refused' })
      assert.deepEqual(await codesOf(ports, account.id, ids), [OUTCOME.refused])
      assert.equal(await ledger.refund({ message: at(ids, 0), why: 'again' }, now), 'refunded-already')
      assert.equal(await ledger.balance(account.id), 100)
      await assertLedger(ports)
    },

  'manual refunds that race with automatic refunds refund each message once': async (ports) => {
    const { claimedBatches, ledger } = ports
    const account = await anAccount(ports, { credits: 100 })
    await accepted(ports, anOrder(account.id, { to: numbers(10), costs: [10] }))
    const dispatcher = await claimedBatches.register(600)
    const claimRequest = {
      carrier: testCarrier,
      lane: 'single',
      messagesMax: 10,
      markedMax: 10,
      leaseSeconds: 600,
    } as const
    const batch = await claimedBatches.claim(dispatcher, claimRequest)
    if (typeof batch === 'string') assert.fail(batch)
    const record = (handover: Handover, some = batch.messages) =>
      claimedBatches.record(
        dispatcher,
        some.map((message) => ({ batch: batch.id, message, handover })),
      )
    await record({ outcome: 'unknown' })
    await Promise.all([
      ...batch.messages.map(({ id }) => ledger.refund({ message: id, why: 'race' }, now)),
      ...batch.messages.map((message) => record({ outcome: 'refused' }, [message])),
    ])
    assert.equal(await ledger.balance(account.id), 100)
    await assertLedger(ports)
  },

  'a trace distinguishes a manual refund from that of another message of the send': async (ports) => {
    const { ids, refund } = await dispatched(ports, { outcome: 'accepted', reference: 'r' }, 2)
    await refund()
    const [first, second] = [await ports.sentMessages.trace(at(ids, 0)), await ports.sentMessages.trace(at(ids, 1))]
    assert.deepEqual(first?.refundByHand, { at: now, why: 'complaint' })
    assert.equal(second?.refundByHand, undefined)
    const byHand = { code: undefined, messages: 1, amount: 25, first: now, last: now }
    assert.deepEqual([first.send.refunds, second?.send.refunds], [[byHand], [byHand]])
    assert.deepEqual([first, second].map(isRefunded), [true, false])
  },
}

/** Contract of top-ups and balances. */
const toppingUp: Contract<StoredPorts> = {
  'a top-up adds its amount and returns the new balance; a negative one subtracts': async (ports) => {
    const { accounts, ledger } = ports
    const { id } = await anAccount(ports, { credits: 5 })
    assert.equal(await ledger.topUp(id, credits(100), 'invoice 7', now), 105)
    assert.equal(await ledger.topUp(id, credits(-104), `it's "wrong"`, now), 1)
    assert.equal(await ledger.topUp(id, credits(-1), 'all of it', now), 0)
    assert.equal(await ledger.topUp(id, credits(7), 'again', now), 7)
    assert.equal(await ledger.balance(id), 7)
    assert.equal((await accounts.find(id))?.balance, 7)
    await assertLedger(ports, 7)
  },

  'a top-up with an operation is made once, also with concurrent calls; a refused one can be repeated': async (
    ports,
  ) => {
    const { ledger } = ports
    const [one, other] = [await anAccount(ports, { credits: 5 }), await anAccount(ports, { credits: 5 })]
    const operation = '00000000-0000-4000-8000-000000000001'
    assert.equal(await ledger.topUp(one.id, credits(-7), 'too much', now, operation), 'out-of-range')
    const results = await Promise.all(
      Array.from({ length: concurrentCallers }, (_, at) =>
        ledger.topUp(at % 2 === 0 ? one.id : other.id, credits(10), 'once', now, operation),
      ),
    )
    assert.equal(results.filter((result) => result === 15).length, 1)
    assert.equal(results.filter((result) => result === 'repeated').length, concurrentCallers - 1)
    await assertLedger(ports, 20)
    assert.equal(
      await ledger.topUp(one.id, credits(1), 'x', now, '00000000-0000-4000-8000-000000000002'),
      (await ledger.balance(one.id)) ?? 0,
    )
    assert.equal(
      await ledger.topUp(stranger, credits(1), 'x', now, '00000000-0000-4000-8000-000000000003'),
      'no-such-account',
    )
  },

  'a top-up changes no other account': async (ports) => {
    const main = await anAccount(ports, { credits: 50 })
    const sub = await anAccount(ports, { parent: main.id, credits: 60 })
    await ports.ledger.topUp(sub.id, credits(5), 'sub', now)
    assert.equal(await ports.ledger.balance(main.id), 50)
    assert.equal(await ports.ledger.balance(sub.id), 65)
  },

  'an unknown account has no balance and cannot be topped up': async (ports) => {
    assert.equal(await ports.ledger.balance(stranger), undefined)
    assert.equal(await ports.ledger.topUp(stranger, credits(10), 'nobody', now), 'no-such-account')
    assert.deepEqual(await ports.ledger.check(), { accounts: 0, balances: 0, differences: [] })
  },

  'a change that would make a balance negative is refused and has no effect': async (ports) => {
    const { id } = await anAccount(ports, { credits: 10 })
    assert.equal(await ports.ledger.topUp(id, credits(-11), 'too much', now), 'out-of-range')
    assert.equal(await ports.ledger.topUp(id, credits(Number.MIN_SAFE_INTEGER), 'far too much', now), 'out-of-range')
    assert.equal(await ports.ledger.balance(id), 10)
    await assertLedger(ports, 10)
  },

  'a change that would exceed the maximum balance is refused and has no effect': async (ports) => {
    const { id } = await anAccount(ports, { credits: 10 })
    assert.equal(await ports.ledger.topUp(id, credits(Number.MAX_SAFE_INTEGER), 'too much', now), 'out-of-range')
    assert.equal(await ports.ledger.topUp(id, credits(Number.MAX_SAFE_INTEGER - 9), 'by one', now), 'out-of-range')
    assert.equal(await ports.ledger.balance(id), 10)
    await assertLedger(ports, 10)
    assert.equal(
      await ports.ledger.topUp(id, credits(Number.MAX_SAFE_INTEGER - 10), 'just so', now),
      Number.MAX_SAFE_INTEGER,
    )
    await assertLedger(ports, Number.MAX_SAFE_INTEGER)
  },

  'concurrent corrections take exactly the available credits, each balance is returned once, and none is negative':
    async (ports) => {
      const { id } = await anAccount(ports, { credits: 10 })
      const results = await Promise.all(
        Array.from({ length: concurrentCallers }, () => ports.ledger.topUp(id, credits(-1), 'race', now)),
      )
      const balances = results.filter((result) => typeof result === 'number')
      assert.deepEqual(inTenths(balances), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      assert.equal(results.filter((result) => result === 'out-of-range').length, concurrentCallers - 10)
      await assertLedger(ports, 0)
    },

  'concurrent top-ups all count, and each returns the balance right after it': async (ports) => {
    const { id } = await anAccount(ports, { credits: 0 })
    const results = await Promise.all(
      Array.from({ length: concurrentCallers }, () => ports.ledger.topUp(id, credits(3), 'race', now)),
    )
    const balances = results.filter((result) => typeof result === 'number')
    assert.deepEqual(
      inTenths(balances),
      Array.from({ length: concurrentCallers }, (_, i) => (i + 1) * 3),
    )
    await assertLedger(ports, concurrentCallers * 3)
  },

  'the check counts every account and sums every balance, also of accounts without credits': async (ports) => {
    await anAccount(ports, { credits: 0 })
    await anAccount(ports, { credits: 40 })
    await anAccount(ports, { credits: 2, locked: true })
    assert.deepEqual(await ports.ledger.check(), { accounts: 3, balances: 42, differences: [] })
  },

  'the check finds no difference at any moment during acceptances, refunds and other movements': async (ports) => {
    const { messages, ledger } = ports
    const opened = await Promise.all([1, 2, 3].map(() => anAccount(ports, { credits: 300 })))
    let running = true
    const check = async () => {
      while (running) await assertLedger(ports)
    }
    const work = opened.flatMap(({ id }) =>
      Array.from({ length: 20 }, async (_, i) => {
        await messages.accept(anOrder(id, { to: numbers(4), costs: [3, 5, 7, 11] }))
        await ledger.topUp(id, credits(i % 2 === 0 ? 20 : -20), 'race', now)
        if (i % 5 === 0) await dispatchDue(ports, 'single', () => ({ outcome: i % 2 ? 'refused' : 'unknown' }))
      }),
    )
    const done = Promise.all(work).finally(() => (running = false))
    await Promise.all([done, check()])
    await assertLedger(ports)
  },
}

export const ledgerContract = combined(toppingUp, movements, transfers, refunds)
