import { strict as assert } from 'node:assert'
import { acceptReceipts, type DeliveryReceipt } from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import { times, withTraffic } from '../claimed-batches/traffic.ts'
import { testCarrier } from '../shared.ts'
import { handedOver, matchAll, otherCarrier, receiptsFor, sentMessages } from './sent-messages.ts'

const { delivered, sent, underWay, undeliverable } = OUTCOME

/** Removes the carrier from receipts, because a process other than the dispatcher receives them in that form. */
const withoutCarrier = (receipts: readonly DeliveryReceipt[]) => receipts.map(({ carrier: _, ...receipt }) => receipt)

/** Contract of receipts that are accepted by another process than the dispatcher that submitted the message. */
export const fromOutside = withTraffic({
  'receipts accepted outside a dispatcher change the messages of their carrier only': async (traffic) => {
    const { account, ids, batch } = await sentMessages(traffic, { to: 3 })
    const accept = acceptReceipts(traffic.ports)
    const receipts = withoutCarrier(receiptsFor(batch, delivered))
    const strangers = await accept(otherCarrier, receipts)
    assert.deepEqual(
      strangers.map(({ carrier }) => carrier),
      times(3, otherCarrier),
    )
    assert.deepEqual(await traffic.codes(account, ids), times(3, sent))
    assert.deepEqual(await accept(testCarrier, receipts), [])
    assert.deepEqual(await traffic.codes(account, ids), times(3, delivered))
  },

  'a receipt accepted before the outcome of its message is kept, and a final state does not change': async (
    traffic,
  ) => {
    const { account, ids, batch, record } = await handedOver(traffic, { to: 3 })
    const accept = acceptReceipts(traffic.ports)
    const early = await accept(testCarrier, withoutCarrier(receiptsFor(batch, delivered)))
    assert.equal(early.length, 3)
    await record()
    await matchAll(traffic, 3)
    await accept(testCarrier, withoutCarrier([...receiptsFor(batch, underWay), ...receiptsFor(batch, undeliverable)]))
    assert.deepEqual(await traffic.codes(account, ids), times(3, delivered))
  },

  'receipts of one message that several processes accept at once give one final state': async (traffic) => {
    const { account, ids, batch } = await sentMessages(traffic, { to: 2 })
    const accept = acceptReceipts(traffic.ports)
    const calls = [delivered, undeliverable, delivered, underWay, undeliverable, delivered]
    await Promise.all(calls.map((code) => accept(testCarrier, withoutCarrier(receiptsFor(batch, code)))))
    const codes = await traffic.codes(account, ids)
    assert.ok(codes.every((code) => code === delivered || code === undeliverable))
    await accept(testCarrier, withoutCarrier([...receiptsFor(batch, delivered), ...receiptsFor(batch, undeliverable)]))
    assert.deepEqual(await traffic.codes(account, ids), codes)
  },
})
