import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { unknownSecondsMax, type WantedUnknown } from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import { referenceOf, withTraffic } from './claimed-batches/traffic.ts'
import { handedOver, otherCarrier, receiptsFor, sentMessages } from './delivery-receipts/sent-messages.ts'
import { callersMany, testCarrier, type Contract } from './shared.ts'

const { delivered, unknown } = OUTCOME
const any: WantedUnknown = { afterSeconds: 0, withinSeconds: unknownSecondsMax, countMax: 1000 }

/** Contract of the port `UnknownMessages`. */
export const unknownMessagesContract: Contract<StoredPorts> = withTraffic({
  'a message that is unknown is returned once, with what the carrier knows it by': async (traffic) => {
    const { deliveryReceipts, unknownMessages } = traffic.ports
    const { batch } = await sentMessages(traffic, { to: 3 })
    await deliveryReceipts.apply(receiptsFor(batch, unknown))
    const references = batch.messages.map(referenceOf)
    await unknownMessages.keep(testCarrier, references)
    await unknownMessages.keep(testCarrier, [])
    const taken = await unknownMessages.take(testCarrier, any)
    const expected = batch.messages.map((one) => ({ reference: referenceOf(one), number: one.to, from: one.from }))
    assert.deepEqual(
      [...taken].sort((a, b) => (a.number < b.number ? -1 : 1)),
      [...expected].sort((a, b) => (a.number < b.number ? -1 : 1)),
    )
    await unknownMessages.keep(testCarrier, references)
    assert.deepEqual(await unknownMessages.take(testCarrier, any), [], 'it was asked for')
  },

  'a part that is unknown is returned, and not the others of its message': async (traffic) => {
    const { deliveryReceipts, unknownMessages } = traffic.ports
    const { batch, record } = await handedOver(traffic)
    const handover = { outcome: 'accepted', reference: 'first', furtherReferences: ['second', 'third'] } as const
    await record(batch.messages.map((message) => ({ batch: batch.id, message, handover })))
    const [receipt] = receiptsFor(batch, delivered)
    assert.ok(receipt !== undefined)
    await deliveryReceipts.apply([{ ...receipt, reference: 'first' }])
    await deliveryReceipts.apply([{ ...receipt, reference: 'second', code: unknown }])
    await unknownMessages.keep(testCarrier, ['first', 'second', 'third'])
    const taken = await unknownMessages.take(testCarrier, any)
    assert.deepEqual(
      taken.map(({ reference, number }) => [reference, number]),
      [['second', batch.messages[0]?.to]],
    )
  },

  'what has another outcome by now, or is nobody, is not returned': async (traffic) => {
    const { deliveryReceipts, unknownMessages } = traffic.ports
    const { batch } = await sentMessages(traffic)
    await deliveryReceipts.apply(receiptsFor(batch, unknown))
    await unknownMessages.keep(testCarrier, [...batch.messages.map(referenceOf), 'of nobody'])
    await deliveryReceipts.apply(receiptsFor(batch, delivered))
    assert.deepEqual(await unknownMessages.take(testCarrier, any), [])
  },

  'only those of the carrier, old and young enough, and not more than are wanted': async (traffic) => {
    const { deliveryReceipts, unknownMessages } = traffic.ports
    const { batch } = await sentMessages(traffic, { to: 3 })
    await deliveryReceipts.apply(receiptsFor(batch, unknown))
    const references = batch.messages.map(referenceOf)
    await unknownMessages.keep(testCarrier, references)
    await unknownMessages.keep(otherCarrier, references)
    assert.deepEqual(await unknownMessages.take(otherCarrier, any), [])
    assert.deepEqual(await unknownMessages.take(testCarrier, { ...any, afterSeconds: 3600 }), [])
    assert.deepEqual(await unknownMessages.take(testCarrier, { ...any, withinSeconds: 0 }), [])
    assert.equal((await unknownMessages.take(testCarrier, { ...any, countMax: 2 })).length, 2)
    assert.equal((await unknownMessages.take(testCarrier, any)).length, 1)
  },

  'of many that take at the same time no two get the same': async (traffic) => {
    const { deliveryReceipts, unknownMessages } = traffic.ports
    const { batch } = await sentMessages(traffic, { to: callersMany })
    await deliveryReceipts.apply(receiptsFor(batch, unknown))
    await unknownMessages.keep(testCarrier, batch.messages.map(referenceOf))
    const takers = Array.from({ length: 16 }, () => unknownMessages.take(testCarrier, { ...any, countMax: 8 }))
    const taken = (await Promise.all(takers)).flat().map(({ reference }) => reference)
    assert.equal(new Set(taken).size, taken.length)
    // One that came while another held the rest got fewer.
    const rest = (await unknownMessages.take(testCarrier, any)).map(({ reference }) => reference)
    assert.deepEqual([...taken, ...rest].sort(), batch.messages.map(referenceOf).sort())
  },
})
