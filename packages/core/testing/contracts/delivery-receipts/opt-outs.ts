import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { ClaimedBatch, Recorded } from '@gateway/core/dispatch'
import { deliveryState, OUTCOME, type MessageId, type Msisdn } from '@gateway/core/messages'
import { carrierOptOutText, type OptOut } from '@gateway/core/suppressions'
import { numbers } from '../../builders.ts'
import { until } from '../../until.ts'
import { all, allAccepted, claimOf, granted, times, withTraffic } from '../claimed-batches/traffic.ts'
import { aReceipt, handedOver, matchAll, receiptsFor, sentMessages } from './sent-messages.ts'
import { at, collect, statusesOf } from '../shared.ts'

const { delivered, optedOut, sent, undeliverable } = OUTCOME

const refusals = (batch: ClaimedBatch): Recorded[] =>
  batch.messages.map((message) => ({ batch: batch.id, message, handover: { outcome: 'refused', optOut: true } }))

const optOutsOf = async ({ suppressions }: StoredPorts, by: AccountId): Promise<readonly OptOut[]> =>
  (await collect(suppressions.optOuts(by))).flat()

/** Asserts that these numbers, and no others, have opted out of the account, each with the message that it answers. */
async function assertOptOuts(
  ports: StoredPorts,
  by: AccountId,
  expected: readonly (readonly [Msisdn, MessageId])[],
): Promise<void> {
  const listed = await optOutsOf(ports, by)
  assert.deepEqual(
    listed.map(({ number, reply }) => [number, reply]),
    [...expected]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([number, answers]) => [number, { id: undefined, text: carrierOptOutText, answers }]),
  )
}

const pairs = ({ messages }: ClaimedBatch) => messages.map(({ to, id }) => [to, id] as const)

/**
 * Contract of numbers that have opted out at the carrier: by the answer to a submission, or by a receipt (ruling 6.2).
 */
export const carrierOptOuts = withTraffic({
  'a refusal because of an opt-out ends the message as 212, refunds it and adds the opt-out, without a confirmation':
    async (traffic) => {
      const { account, ids, batch, record, dispatcher } = await handedOver(traffic, { to: 3 })
      const [first, ...others] = refusals(batch)
      assert.ok(first !== undefined)
      await record([
        first,
        ...allAccepted(
          batch,
          others.map(({ message }) => message),
        ),
      ])
      assert.deepEqual(await traffic.codes(account, ids), [optedOut, sent, sent])
      assert.equal(await traffic.balance(account), granted - 20)
      await assertOptOuts(traffic.ports, account, pairs(batch).slice(0, 1))
      assert.equal(await traffic.ports.claimedBatches.claim(dispatcher, claimOf('single')), 'nothing')
    },

  'an opt-out at the carrier applies to the account of the message only, and to its next messages': async (traffic) => {
    const { suppressions } = traffic.ports
    const { account, batch, record } = await handedOver(traffic)
    const other = await traffic.account()
    await record(refusals(batch))
    const { to } = at(batch.messages, 0)
    assert.deepEqual(await suppressions.matching(account, [to]), new Map([[to, new Set(['opt-out'])]]))
    assert.equal((await suppressions.matching(other, [to])).size, 0)
    await traffic.send(account, { numbers: [to] })
    const again = await traffic.claim(await traffic.dispatcher())
    assert.deepEqual(
      again.messages.map((message) => [...message.suppressions]),
      [['opt-out']],
    )
  },

  'a late refusal of a message of unknown outcome, because of an opt-out, counts once': async (traffic) => {
    const { account, ids, dispatcher, batch, record } = await handedOver(traffic, { to: 2 })
    await traffic.fence(dispatcher)
    await Promise.all([record(refusals(batch)), record(refusals(batch))])
    await record(all('refused', batch))
    assert.deepEqual(await traffic.codes(account, ids), [optedOut, optedOut])
    assert.equal(await traffic.balance(account), granted)
    await assertOptOuts(traffic.ports, account, pairs(batch))
  },

  'a receipt that reports an opt-out ends the message as 212, refunds it and adds the opt-out, once': async (
    traffic,
  ) => {
    const { deliveryReceipts, ledger } = traffic.ports
    const { account, ids, batch } = await sentMessages(traffic, { to: 3 })
    const receipts = receiptsFor(batch, optedOut).map((one, i) => (i === 2 ? { ...one, code: delivered } : one))
    assert.deepEqual(await deliveryReceipts.apply(receipts), [])
    assert.deepEqual(await deliveryReceipts.apply(receiptsFor(batch, undeliverable)), [])
    assert.deepEqual(await deliveryReceipts.apply(receipts), [])
    assert.deepEqual(await traffic.codes(account, ids), [optedOut, optedOut, delivered])
    assert.equal(await traffic.balance(account), granted - 10)
    await assertOptOuts(traffic.ports, account, pairs(batch).slice(0, 2))
    const [status] = await statusesOf(traffic.ports, account, ids)
    assert.ok(typeof status === 'object')
    assert.deepEqual([status.cost, deliveryState(status)], [0, 'not-sent'])
    const refund = await ledger.refund({ message: at(ids, 0), why: 'by hand' }, at(batch.messages, 0).due)
    assert.equal(refund, 'refunded-already')
  },

  'a receipt of an opt-out that arrives before its message is recorded counts afterwards': async (traffic) => {
    const { account, ids, batch, record } = await handedOver(traffic, { to: 2 })
    await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, optedOut))
    await record()
    await matchAll(traffic, 2)
    assert.deepEqual(await traffic.codes(account, ids), [optedOut, optedOut])
    assert.equal(await traffic.balance(account), granted)
    await assertOptOuts(traffic.ports, account, pairs(batch))
  },

  'a receipt of an opt-out for one part ends the whole message, and refunds it once': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch, record } = await handedOver(traffic, { text: 'x'.repeat(300) })
    const [message] = batch.messages
    assert.ok(message !== undefined)
    const handover = { outcome: 'accepted', reference: 'p1', furtherReferences: ['p2'] } as const
    await record([{ batch: batch.id, message, handover }])
    await deliveryReceipts.apply([aReceipt('p2', optedOut), aReceipt('p1', optedOut)])
    await deliveryReceipts.apply([aReceipt('p1', optedOut)])
    assert.deepEqual(await traffic.codes(account, ids), [optedOut])
    assert.equal(await traffic.balance(account), granted)
    await assertOptOuts(traffic.ports, account, pairs(batch))
  },

  'an existing opt-out keeps its time and its text': async (traffic) => {
    const { suppressions } = traffic.ports
    const { account, batch, record } = await handedOver(traffic)
    const { to } = at(batch.messages, 0)
    const since = at(batch.messages, 0).due
    await suppressions.addAll(account, 'opt-out', [{ number: to, since, text: 'Stop' }])
    await record(refusals(batch))
    const [optOut, ...more] = await optOutsOf(traffic.ports, account)
    assert.deepEqual([optOut?.since, optOut?.reply?.text, more.length], [since, 'Stop', 0])
  },

  'opt-outs of one number beside each other, beside a send and beside an opt-out by hand give one entry': async (
    traffic,
  ) => {
    const { suppressions, deliveryReceipts } = traffic.ports
    const account = await traffic.account()
    const some = numbers(8)
    for (let i = 0; i < 4; i++) await traffic.send(account, { numbers: some })
    const dispatcher = await traffic.dispatcher()
    const batches = await traffic.claimAll(dispatcher, 'single', 8)
    const { claimedBatches } = traffic.ports
    const [first, ...others] = batches
    assert.ok(first !== undefined && others.length > 0)
    await claimedBatches.record(dispatcher, allAccepted(first))
    const since = at(first.messages, 0).due
    const sentBeside = traffic.send(account, { numbers: some })
    await Promise.all([
      ...others.map((batch) => claimedBatches.record(dispatcher, refusals(batch))),
      deliveryReceipts.apply(receiptsFor(first, optedOut)),
      suppressions.addAll(
        account,
        'opt-out',
        some.map((number) => ({ number, since })),
      ),
      sentBeside,
    ])
    const ids = batches.flatMap(({ messages }) => messages.map(({ id }) => id))
    assert.deepEqual(await traffic.codes(account, ids), times(32, optedOut))
    assert.equal((await optOutsOf(traffic.ports, account)).length, 8)
    await until(async () => (await traffic.codes(account, await sentBeside)).every((code) => code === 'waiting'))
    assert.equal(await traffic.balance(account), granted - 80)
  },
})
