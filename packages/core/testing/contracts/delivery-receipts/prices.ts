import { strict as assert } from 'node:assert'
import type { ClaimedBatch, Recorded } from '@gateway/core/dispatch'
import { OUTCOME, type CarrierPrice, type MessageId } from '@gateway/core/messages'
import { all, allAccepted, granted, referenceOf, withTraffic, type Traffic } from '../claimed-batches/traffic.ts'
import { at } from '../shared.ts'
import { aReceipt, handedOver, matchAll, receiptsFor, sentMessages } from './sent-messages.ts'

const { delivered, failed, optedOut, underWay } = OUTCOME
const dollars = (amount: string): CarrierPrice => ({ amount, currency: 'USD' })
const euros = (amount: string): CarrierPrice => ({ amount, currency: 'EUR' })

/** Accepts every message of a batch, with the price of the same index. */
const pricedAs = (batch: ClaimedBatch, prices: readonly (CarrierPrice | undefined)[]): Recorded[] =>
  batch.messages.map((message, i) => ({
    batch: batch.id,
    message,
    handover: { outcome: 'accepted', reference: referenceOf(message), price: prices[i] },
  }))

async function pricesOf({ ports }: Traffic, ids: readonly MessageId[]): Promise<readonly (CarrierPrice | undefined)[]> {
  const traces = await Promise.all(ids.map((id) => ports.sentMessages.trace(id)))
  return traces.map((trace) => (trace?.place.place === 'decided' ? trace.place.carrierPrice : undefined))
}

/** Contract of prices that carriers name for messages (ruling 6.3). */
export const carrierPrices = withTraffic({
  'the price in an answer is stored beside the message as the carrier wrote it, and changes no credits': async (
    traffic,
  ) => {
    const { account, ids, batch, record } = await handedOver(traffic, { to: 3 })
    await record(pricedAs(batch, [dollars('0.00750'), undefined, euros('999999999999999.123456789012345')]))
    assert.deepEqual(await pricesOf(traffic, ids), [
      dollars('0.00750'),
      undefined,
      euros('999999999999999.123456789012345'),
    ])
    assert.equal(await traffic.balance(account), granted - 30)
  },

  'the first price counts, in an answer or in a receipt': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { ids, batch, record } = await handedOver(traffic, { to: 2 })
    await record(pricedAs(batch, [dollars('1'), undefined]))
    await deliveryReceipts.apply(receiptsFor(batch, underWay, { price: euros('2') }))
    assert.deepEqual(await pricesOf(traffic, ids), [dollars('1'), euros('2')])
    await deliveryReceipts.apply(receiptsFor(batch, delivered, { price: dollars('3') }))
    assert.deepEqual(await pricesOf(traffic, ids), [dollars('1'), euros('2')])
  },

  'the price in a receipt that arrives before its message is recorded is stored afterwards': async (traffic) => {
    const { ids, batch, record } = await handedOver(traffic, { to: 2 })
    await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, delivered, { price: euros('0.02') }))
    await record(allAccepted(batch))
    await matchAll(traffic, 2)
    assert.deepEqual(await pricesOf(traffic, ids), [euros('0.02'), euros('0.02')])
  },

  'a late answer brings its price': async (traffic) => {
    const { ids, dispatcher, batch, record } = await handedOver(traffic, { to: 2 })
    await traffic.fence(dispatcher)
    await record(pricedAs(batch, [dollars('0.01'), dollars('0.02')]))
    await record(all('refused', batch))
    assert.deepEqual(await pricesOf(traffic, ids), [dollars('0.01'), dollars('0.02')])
  },

  'a message in parts has the price of its answer, and a receipt of a part changes no price': async (traffic) => {
    const { ids, batch, record } = await handedOver(traffic, { to: 2, text: 'x'.repeat(300) })
    const recorded = batch.messages.map((message, i) => {
      const references = { reference: `a${i}`, furtherReferences: [`b${i}`] }
      const price = i === 0 ? { price: euros('0.04') } : {}
      return { batch: batch.id, message, handover: { outcome: 'accepted', ...references, ...price } as const }
    })
    await record(recorded)
    await traffic.ports.deliveryReceipts.apply(
      ['a0', 'b0', 'a1', 'b1'].map((reference) => aReceipt(reference, delivered, { price: euros('0.02') })),
    )
    assert.deepEqual(await pricesOf(traffic, ids), [euros('0.04'), undefined])
  },

  'prices of one send are summed exactly by currency, whatever the outcomes of its messages': async (traffic) => {
    const { ids, batch, record } = await handedOver(traffic, { to: 5 })
    await record(pricedAs(batch, [dollars('0.0075'), dollars('0.10'), euros('3'), undefined, dollars('2')]))
    await traffic.ports.deliveryReceipts.apply([aReceipt(referenceOf(at(batch.messages, 0)), failed)])
    const trace = await traffic.ports.sentMessages.trace(at(ids, 4))
    assert.deepEqual(trace?.send.carrierPrices, [
      { ...euros('3'), messages: 1 },
      { ...dollars('2.1075'), messages: 3 },
    ])
  },

  'a receipt with a price may report an opt-out, and both count': async (traffic) => {
    const { account, ids, batch } = await sentMessages(traffic)
    await traffic.ports.deliveryReceipts.apply(receiptsFor(batch, optedOut, { price: dollars('0.004') }))
    assert.deepEqual(await pricesOf(traffic, ids), [dollars('0.004')])
    assert.deepEqual(await traffic.codes(account, ids), [optedOut])
  },
})
