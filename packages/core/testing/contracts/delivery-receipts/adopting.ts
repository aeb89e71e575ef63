import { strict as assert } from 'node:assert'
import { OUTCOME, secondsAfter, type ClaimedBatch, type DeliveryReceipt } from '@gateway/core'
import { numbers } from '../../builders.ts'
import { realClock } from '../../memory/clock.ts'
import { until } from '../../until.ts'
import { all, granted, times, withTraffic, type Traffic } from '../claimed-batches/traffic.ts'
import { longAgo } from '../shared.ts'
import { aReceipt, handedOver, matchAll, otherCarrier } from './sent-messages.ts'

const { delivered, undeliverable, unknown } = OUTCOME

/** Messages whose outcome is unknown, each to a number of its own. */
async function unknownMessages(traffic: Traffic, to: number) {
  const handed = await handedOver(traffic, { to })
  await handed.record(all('unknown', handed.batch))
  return handed
}

/** Receipts that tell their numbers and when they were submitted, under references that no record knows. */
const strangers = (batch: ClaimedBatch, rest: Partial<DeliveryReceipt> = {}): DeliveryReceipt[] =>
  batch.messages.map(({ to, id }) =>
    aReceipt(`stranger-${id}`, delivered, { number: to, submitted: realClock().now(), ...rest }),
  )

/** Messages of unknown outcome that have no reference, and receipts that nothing else claims. */
export const adopting = withTraffic({
  'an unknown message is adopted by the one receipt that fits it, and then matched': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, 5)
    await deliveryReceipts.apply(strangers(batch))
    assert.equal(await deliveryReceipts.match(100), 0)
    assert.equal(await deliveryReceipts.adopt(0), 5)
    await matchAll(traffic, 5)
    assert.deepEqual(await traffic.codes(account, ids), times(5, delivered))
    assert.equal(await deliveryReceipts.adopt(0), 0)
    assert.equal(await traffic.balance(account), granted - 50)
  },

  'what recovery called unknown is adopted too, also by a receipt that does not tell when it was submitted': async (
    traffic,
  ) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, dispatcher, batch } = await handedOver(traffic, { to: 2 })
    await traffic.fence(dispatcher)
    await deliveryReceipts.apply(strangers(batch, { submitted: undefined }))
    assert.equal(await deliveryReceipts.adopt(0), 2)
    await matchAll(traffic, 2)
    assert.deepEqual(await traffic.codes(account, ids), [delivered, delivered])
  },

  'what recovery calls unknown after its receipt came is adopted all the same': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, dispatcher, batch } = await handedOver(traffic, { to: 2 })
    await deliveryReceipts.apply(strangers(batch, { submitted: undefined }))
    const received = realClock().now()
    await until(() => realClock().now() > received)
    await traffic.fence(dispatcher)
    assert.equal(await deliveryReceipts.adopt(0), 2)
    await matchAll(traffic, 2)
    assert.deepEqual(await traffic.codes(account, ids), [delivered, delivered])
  },

  'an adopted message is not changed by what its dispatcher tells later': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, dispatcher, batch, record } = await handedOver(traffic, { to: 2 })
    await traffic.fence(dispatcher)
    await deliveryReceipts.apply(strangers(batch))
    assert.equal(await deliveryReceipts.adopt(0), 2)
    await record(all('refused', batch))
    assert.equal(await traffic.ports.claimedBatches.postpone(dispatcher, batch.id, ids, 0), 'fenced')
    assert.deepEqual(await traffic.codes(account, ids), [unknown, unknown])
    await matchAll(traffic, 2)
    assert.deepEqual(await traffic.codes(account, ids), [delivered, delivered])
    assert.equal(await traffic.balance(account), granted - 20)
  },

  'a receipt is adopted only when it is old enough': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { batch } = await unknownMessages(traffic, 1)
    await deliveryReceipts.apply(strangers(batch))
    assert.equal(await deliveryReceipts.adopt(3600), 0)
    assert.equal(await deliveryReceipts.adopt(0), 1)
  },

  'two unknown messages to one number: nobody can tell, nothing is adopted': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const one = await unknownMessages(traffic, 1)
    const two = await unknownMessages(traffic, 1)
    await deliveryReceipts.apply(strangers(one.batch))
    assert.equal(await deliveryReceipts.adopt(0), 0)
    assert.deepEqual(await traffic.codes(one.account, one.ids), [unknown])
    assert.deepEqual(await traffic.codes(two.account, two.ids), [unknown])
  },

  'two references for the number of one unknown message: nobody can tell, nothing is adopted': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, 1)
    const [first] = strangers(batch)
    assert.ok(first)
    await deliveryReceipts.apply([first, { ...first, reference: 'another' }])
    assert.equal(await deliveryReceipts.adopt(0), 0)
    assert.deepEqual(await traffic.codes(account, ids), [unknown])
  },

  'several receipts of one reference are one fit, and the first final one counts': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, 1)
    for (const code of [OUTCOME.underWay, undeliverable, delivered] as const) {
      await deliveryReceipts.apply(strangers(batch, { code }))
    }
    assert.equal(await deliveryReceipts.adopt(0), 1)
    await matchAll(traffic, 3)
    assert.deepEqual(await traffic.codes(account, ids), [undeliverable])
  },

  'another carrier, another number, no number, another day: nothing is adopted': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, 1)
    const [, other] = numbers(2)
    assert.ok(other)
    await deliveryReceipts.apply([
      ...strangers(batch, { carrier: otherCarrier }),
      ...strangers(batch, { reference: 'a', number: other }),
      ...strangers(batch, { reference: 'b', number: undefined }),
      ...strangers(batch, { reference: 'c', submitted: longAgo }),
    ])
    assert.equal(await deliveryReceipts.adopt(0), 0)
    assert.deepEqual(await traffic.codes(account, ids), [unknown])
  },

  'while a message to the number may be on its way, its receipt is not given to another': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const lost = await unknownMessages(traffic, 1)
    const onItsWay = await handedOver(traffic, { to: 1 })
    await deliveryReceipts.apply(strangers(onItsWay.batch))
    assert.equal(await deliveryReceipts.adopt(0), 0)
    const references = strangers(onItsWay.batch).map(({ reference }) => reference)
    await onItsWay.record(
      onItsWay.batch.messages.map((message, i) => ({
        batch: onItsWay.batch.id,
        message,
        handover: { outcome: 'accepted', reference: references[i] ?? '' },
      })),
    )
    assert.equal(await deliveryReceipts.adopt(0), 0)
    await matchAll(traffic, 1)
    assert.deepEqual(await traffic.codes(lost.account, lost.ids), [unknown])
    assert.deepEqual(await traffic.codes(onItsWay.account, onItsWay.ids), [delivered])
  },

  'batches whose messages go elsewhere, or were settled or given back, hinder no adoption': async (traffic) => {
    const { claimedBatches, deliveryReceipts } = traffic.ports
    const lost = await unknownMessages(traffic, 1)
    const other = await handedOver(traffic, { to: 20 })
    const [first, second] = other.ids
    assert.ok(first && second)
    await claimedBatches.settle(other.dispatcher, other.batch.id, [{ id: first, code: OUTCOME.expired }])
    await claimedBatches.postpone(other.dispatcher, other.batch.id, [second], 3600)
    await deliveryReceipts.apply(strangers(lost.batch))
    assert.equal(await deliveryReceipts.adopt(0), 1)
  },

  'a message is adopted once, whoever adopts': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, 30)
    await deliveryReceipts.apply(strangers(batch))
    const counts = await Promise.all(times(8, 0).map(() => deliveryReceipts.adopt(0)))
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      30,
    )
    await matchAll(traffic, 30)
    assert.deepEqual(await traffic.codes(account, ids), times(30, delivered))
  },

  'a receipt that says it was submitted within the hour before the message became unknown fits': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { batch } = await unknownMessages(traffic, 1)
    const submitted = secondsAfter(realClock().now(), -1800)
    await deliveryReceipts.apply(strangers(batch, { submitted }))
    assert.equal(await deliveryReceipts.adopt(0), 1)
  },
})
