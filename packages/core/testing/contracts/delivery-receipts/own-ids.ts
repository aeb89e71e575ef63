import { strict as assert } from 'node:assert'
import {
  ownIdTag,
  ownIdTags,
  type ClaimedBatch,
  type DeliveryReceipt,
  type DeliveryReceiptCode,
} from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import { until } from '../../until.ts'
import { all, granted, times, withTraffic, type Sent, type Traffic } from '../claimed-batches/traffic.ts'
import { at } from '../shared.ts'
import { acceptedUnder, aReceipt, handedOver, matchAll, otherCarrier } from './sent-messages.ts'

const { delivered, failed, sent, underWay, unknown } = OUTCOME

/** Returns a receipt for each message, with its own id and number, and a reference that no message has. */
const naming = (
  batch: ClaimedBatch,
  code: DeliveryReceiptCode = delivered,
  rest: Partial<DeliveryReceipt> = {},
): DeliveryReceipt[] =>
  batch.messages.map(({ id, due, to }) =>
    aReceipt(`named-${id}`, code, { number: to, ownId: { message: id, tag: ownIdTag(due) }, ...rest }),
  )

async function unknownMessages(traffic: Traffic, order: Sent) {
  const handed = await handedOver(traffic, order)
  await handed.record(all('unknown', handed.batch))
  return handed
}

/** Contract of receipts with our own id of a message, which resolve messages of unknown outcome (ruling 1.17). */
export const ownIds = withTraffic({
  'a receipt with its own id resolves an unknown message, with or without its number, and costs nothing': async (
    traffic,
  ) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, { to: 5 })
    const receipts = naming(batch).map((receipt, i) => (i < 2 ? { ...receipt, number: undefined } : receipt))
    assert.equal((await deliveryReceipts.apply(receipts)).length, 5)
    await matchAll(traffic, 5)
    assert.deepEqual(await traffic.codes(account, ids), times(5, delivered))
    assert.equal(await traffic.balance(account), granted - 50)
  },

  'further receipts find the resolved message by the reference of the first, and a final state stays': async (
    traffic,
  ) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, { to: 2 })
    await deliveryReceipts.apply(naming(batch, underWay))
    await matchAll(traffic, 2)
    assert.deepEqual(await traffic.codes(account, ids), [underWay, underWay])
    const without = naming(batch, failed, { ownId: undefined })
    assert.deepEqual(await deliveryReceipts.apply(without), [])
    assert.deepEqual(await deliveryReceipts.apply(naming(batch, delivered)), [])
    assert.deepEqual(await traffic.codes(account, ids), [failed, failed])
  },

  'a receipt that arrives before its message becomes unknown resolves it then': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const byAnswer = await handedOver(traffic, { to: 2 })
    const byRecovery = await handedOver(traffic, { to: 2 })
    await deliveryReceipts.apply([...naming(byAnswer.batch), ...naming(byRecovery.batch)])
    assert.equal(await deliveryReceipts.match(100), 0)
    await byAnswer.record(all('unknown', byAnswer.batch))
    await traffic.fence(byRecovery.dispatcher)
    await matchAll(traffic, 4)
    for (const { account, ids } of [byAnswer, byRecovery]) {
      assert.deepEqual(await traffic.codes(account, ids), [delivered, delivered])
    }
  },

  'a receipt beside the submission outcome resolves the message once, whatever comes first': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch, record } = await handedOver(traffic, { to: 40 })
    await Promise.all([
      deliveryReceipts.apply(naming(batch)),
      record(all('unknown', batch)),
      deliveryReceipts.apply(naming(batch)),
      deliveryReceipts.match(1000),
      deliveryReceipts.match(1000),
    ])
    await until(async () => {
      await deliveryReceipts.match(1000)
      return (await deliveryReceipts.unmatched(100)).length === 0
    })
    assert.deepEqual(await traffic.codes(account, ids), times(40, delivered))
    assert.equal(await traffic.balance(account), granted - 400)
  },

  'a late report of the dispatcher does not change a resolved message': async (traffic) => {
    const { account, ids, dispatcher, batch, record } = await handedOver(traffic, { to: 2 })
    await traffic.fence(dispatcher)
    await traffic.ports.deliveryReceipts.apply(naming(batch))
    await matchAll(traffic, 2)
    await record(all('refused', batch))
    assert.deepEqual(await traffic.codes(account, ids), [delivered, delivered])
    assert.equal(await traffic.balance(account), granted - 20)
  },

  'an own id of another gateway, another carrier, another number or no message resolves nothing': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, { to: 4 })
    const [a, b, c, d] = naming(batch)
    assert.ok(a?.ownId && b && c && d?.ownId)
    const strange = [
      { ...a, ownId: { ...a.ownId, tag: (a.ownId.tag + 1) % ownIdTags } },
      { ...b, carrier: otherCarrier },
      { ...c, number: a.number },
      { ...d, ownId: { ...d.ownId, message: Number.MAX_SAFE_INTEGER as typeof d.ownId.message } },
    ]
    assert.equal((await deliveryReceipts.apply(strange)).length, 4)
    assert.equal(await deliveryReceipts.match(100), 0)
    assert.equal(await deliveryReceipts.adopt(0), 0, 'nor are they adopted by their number')
    assert.deepEqual(await traffic.codes(account, ids), times(4, unknown))
  },

  'an accepted message gets receipts of its reference only': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch, record } = await handedOver(traffic)
    await record(acceptedUnder(batch, ['first']))
    await deliveryReceipts.apply(naming(batch, failed))
    assert.equal(await deliveryReceipts.match(100), 0)
    assert.deepEqual(await traffic.codes(account, ids), [sent])
  },

  'an unknown message of several parts is resolved by one receipt of the whole, or by those of all parts': async (
    traffic,
  ) => {
    const { deliveryReceipts } = traffic.ports
    const text = 'x'.repeat(400)
    const whole = await unknownMessages(traffic, { text })
    await deliveryReceipts.apply(naming(whole.batch))
    await matchAll(traffic, 1)
    assert.deepEqual(await traffic.codes(whole.account, whole.ids), [delivered])

    const { account, ids, batch } = await unknownMessages(traffic, { text })
    const part = (reference: string): DeliveryReceipt => ({
      ...at(naming(batch), 0),
      ...{ reference, isOfPart: true },
    })
    await deliveryReceipts.apply([part('p1'), part('p2')])
    assert.equal(await deliveryReceipts.match(100), 0)
    assert.deepEqual(await traffic.codes(account, ids), [unknown])
    await deliveryReceipts.apply([part('p3')])
    await matchAll(traffic, 3)
    assert.deepEqual(await traffic.codes(account, ids), [delivered])
  },

  'of the receipts of one message with several references the earliest resolves it': async (traffic) => {
    const { deliveryReceipts } = traffic.ports
    const { account, ids, batch } = await unknownMessages(traffic, {})
    const [receipt] = naming(batch)
    assert.ok(receipt !== undefined)
    await deliveryReceipts.apply([receipt, { ...receipt, reference: 'z', code: failed }])
    await matchAll(traffic, 1)
    assert.deepEqual(await traffic.codes(account, ids), [delivered])
  },
})
