import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { unknownSecondsMax, type WantedUnknown } from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import { referenceOf, withTraffic } from '../claimed-batches/traffic.ts'
import { handedOver, otherCarrier, receiptsFor, sentMessages } from './sent-messages.ts'
import { concurrentCallers, testCarrier, type Contract } from '../shared.ts'

const { delivered, unknown } = OUTCOME
const any: WantedUnknown = { afterSeconds: 0, withinSeconds: unknownSecondsMax, countMax: 1000 }

/** Contract of messages about whose unknown outcome a carrier can be asked. */
export const unknownMessages: Contract<StoredPorts> = withTraffic({
  'an unknown message is returned once, with its carrier reference': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { batch } = await sentMessages(traffic, { to: 3 })
    await deliveryReceipts.apply(receiptsFor(batch, unknown))
    const references = batch.messages.map(referenceOf)
    await deliveryReceipts.storeUnknown(testCarrier, references)
    await deliveryReceipts.storeUnknown(testCarrier, [])
    const returned = await deliveryReceipts.takeUnknown(testCarrier, any)
    const expected = batch.messages.map((one) => ({ reference: referenceOf(one), number: one.to, from: one.from }))
    assert.deepEqual(
      [...returned].sort((a, b) => (a.number < b.number ? -1 : 1)),
      [...expected].sort((a, b) => (a.number < b.number ? -1 : 1)),
    )
    await deliveryReceipts.storeUnknown(testCarrier, references)
    assert.deepEqual(await deliveryReceipts.takeUnknown(testCarrier, any), [], 'it was asked for')
  },

  'only the unknown part of a message is returned': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { batch, record } = await handedOver(traffic)
    const handover = { outcome: 'accepted', reference: 'first', furtherReferences: ['second', 'third'] } as const
    await record(batch.messages.map((message) => ({ batch: batch.id, message, handover })))
    const [receipt] = receiptsFor(batch, delivered)
    assert.ok(receipt !== undefined)
    await deliveryReceipts.apply([{ ...receipt, reference: 'first' }])
    await deliveryReceipts.apply([{ ...receipt, reference: 'second', code: unknown }])
    await deliveryReceipts.storeUnknown(testCarrier, ['first', 'second', 'third'])
    const returned = await deliveryReceipts.takeUnknown(testCarrier, any)
    assert.deepEqual(
      returned.map(({ reference, number }) => [reference, number]),
      [['second', batch.messages[0]?.to]],
    )
  },

  'a message with another outcome, or that does not exist, is not returned': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { batch } = await sentMessages(traffic)
    await deliveryReceipts.apply(receiptsFor(batch, unknown))
    await deliveryReceipts.storeUnknown(testCarrier, [...batch.messages.map(referenceOf), 'of nobody'])
    await deliveryReceipts.apply(receiptsFor(batch, delivered))
    assert.deepEqual(await deliveryReceipts.takeUnknown(testCarrier, any), [])
  },

  'only messages of the carrier within the age limits are returned, up to the requested number': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { batch } = await sentMessages(traffic, { to: 3 })
    await deliveryReceipts.apply(receiptsFor(batch, unknown))
    const references = batch.messages.map(referenceOf)
    await deliveryReceipts.storeUnknown(testCarrier, references)
    await deliveryReceipts.storeUnknown(otherCarrier, references)
    assert.deepEqual(await deliveryReceipts.takeUnknown(otherCarrier, any), [])
    assert.deepEqual(await deliveryReceipts.takeUnknown(testCarrier, { ...any, afterSeconds: 3600 }), [])
    assert.deepEqual(await deliveryReceipts.takeUnknown(testCarrier, { ...any, withinSeconds: 0 }), [])
    assert.equal((await deliveryReceipts.takeUnknown(testCarrier, { ...any, countMax: 2 })).length, 2)
    assert.equal((await deliveryReceipts.takeUnknown(testCarrier, any)).length, 1)
  },

  'concurrent callers receive different messages': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { batch } = await sentMessages(traffic, { to: concurrentCallers })
    await deliveryReceipts.apply(receiptsFor(batch, unknown))
    await deliveryReceipts.storeUnknown(testCarrier, batch.messages.map(referenceOf))
    const takers = Array.from({ length: 16 }, () => deliveryReceipts.takeUnknown(testCarrier, { ...any, countMax: 8 }))
    const returned = (await Promise.all(takers)).flat().map(({ reference }) => reference)
    assert.equal(new Set(returned).size, returned.length)
    // Concurrent callers may have received fewer messages than they asked for, so collect the remaining ones.
    const rest = (await deliveryReceipts.takeUnknown(testCarrier, any)).map(({ reference }) => reference)
    assert.deepEqual([...returned, ...rest].sort(), batch.messages.map(referenceOf).sort())
  },
})
