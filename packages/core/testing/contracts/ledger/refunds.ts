import { strict as assert } from 'node:assert'
import { instant, OUTCOME, type Handover, type MessageTrace, type StoredPorts } from '@gateway/core'
import { aMessageId } from '../../ids.ts'
import { anAccount, anOrder, numbers } from '../../builders.ts'
import type { Contract } from '../contract.ts'
import {
  accepted,
  assertLedger,
  at,
  callersMany,
  codesOf,
  collect,
  dispatchDue,
  farAhead,
  statusesOf,
  testCarrier,
} from '../shared.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))

/** A message of 2.5 credits of an account that has 7.5 left, and what became of it. */
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

/** What the port `Ledger` promises of refunds by hand. */
export const refunds: Contract<StoredPorts> = {
  'what a carrier took, or may have, is given back once, to who was charged, with the reason': async (ports) => {
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

  'of many who give one message back at the same time one does': async (ports) => {
    const { account, refund } = await dispatched(ports, { outcome: 'accepted', reference: 'r' })
    const results = await Promise.all(Array.from({ length: callersMany }, () => refund()))
    assert.equal(results.filter((result) => typeof result === 'object').length, 1)
    assert.equal(results.filter((result) => result === 'refunded-already').length, callersMany - 1)
    assert.equal(await ports.ledger.balance(account.id), 100)
    await assertLedger(ports)
  },

  'what waits, was refunded by itself, was deleted, cost nothing or is not there is not given back': async (ports) => {
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

  'a message whose charge was given back is not refunded again when it is learned late that no carrier took it': async (
    ports,
  ) => {
    const { claimedBatches, ledger } = ports
    const account = await anAccount(ports, { credits: 100 })
    const { ids } = await accepted(ports, anOrder(account.id, { to: numbers(1), costs: [10] }))
    const dispatcher = await claimedBatches.register(600)
    const wanted = { carrier: testCarrier, lane: 'single', messagesMax: 9, markedMax: 9, leaseSeconds: 600 } as const
    const batch = await claimedBatches.claim(dispatcher, wanted)
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

  'refunds by hand while late answers refund by themselves: each message once': async (ports) => {
    const { claimedBatches, ledger } = ports
    const account = await anAccount(ports, { credits: 100 })
    await accepted(ports, anOrder(account.id, { to: numbers(10), costs: [10] }))
    const dispatcher = await claimedBatches.register(600)
    const wanted = { carrier: testCarrier, lane: 'single', messagesMax: 10, markedMax: 10, leaseSeconds: 600 } as const
    const batch = await claimedBatches.claim(dispatcher, wanted)
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

  'a trace tells a refund by hand, and that of another message of the send': async (ports) => {
    const { ids, refund } = await dispatched(ports, { outcome: 'accepted', reference: 'r' }, 2)
    await refund()
    const [first, second] = [await ports.messageTraces.of(at(ids, 0)), await ports.messageTraces.of(at(ids, 1))]
    assert.deepEqual(first?.refundByHand, { at: now, why: 'complaint' })
    assert.equal(second?.refundByHand, undefined)
    const byHand = { code: undefined, messages: 1, amount: 25, first: now, last: now }
    assert.deepEqual([first.send.refunds, second?.send.refunds], [[byHand], [byHand]])
    assert.deepEqual([first, second].map(isRefunded), [true, false])
  },
}
