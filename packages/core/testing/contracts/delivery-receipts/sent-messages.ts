import {
  carrierId,
  type CarrierId,
  type ClaimedBatch,
  type DeliveryReceipt,
  type DeliveryReceiptCode,
} from '@gateway/core/dispatch'
import { strict as assert } from 'node:assert'
import { until } from '../../until.ts'
import { acceptedAs, allAccepted, referenceOf, type Sent, type Traffic } from '../claimed-batches/traffic.ts'
import { testCarrier } from '../shared.ts'

export const otherCarrier: CarrierId = carrierId('other') ?? assert.fail('carrierId refused a name')

/** Marks messages of a new account without recording them. */
export async function handedOver(traffic: Traffic, order: Sent = {}) {
  const account = await traffic.account()
  const ids = await traffic.send(account, order)
  const dispatcher = await traffic.dispatcher()
  const batch = await traffic.claim(dispatcher, ids.length > 10 ? 'bulk' : 'single')
  const record = (recorded = allAccepted(batch)) => traffic.ports.claimedBatches.record(dispatcher, recorded)
  return { account, ids, dispatcher, batch, record }
}

/** Records messages of a new account as accepted by a carrier. */
export async function sentMessages(traffic: Traffic, order: Sent = {}) {
  const handed = await handedOver(traffic, order)
  await handed.record()
  return handed
}

/** Returns a receipt for each message, by the reference that `allAccepted` gives it. */
export const receiptsFor = (
  batch: ClaimedBatch,
  code: DeliveryReceiptCode,
  rest: Partial<DeliveryReceipt> = {},
): DeliveryReceipt[] => batch.messages.map((message) => aReceipt(referenceOf(message), code, rest))

export const aReceipt = (
  reference: string,
  code: DeliveryReceiptCode,
  rest: Partial<DeliveryReceipt> = {},
): DeliveryReceipt => ({
  carrier: testCarrier,
  reference,
  code,
  number: undefined,
  submitted: undefined,
  ...rest,
})

/** Returns an accepted outcome for every message, with the reference of the same index. */
export const acceptedUnder = (batch: ClaimedBatch, references: readonly string[]) =>
  batch.messages.map((message, i) => ({
    batch: batch.id,
    message,
    handover: acceptedAs(references[i] ?? referenceOf(message)),
  }))

/**
 * Calls `match` until it has found `count` messages in total. One call may not be enough, because a failed attempt is
 * not repeated at once.
 */
export async function matchAll({ ports: { deliveryReceipts } }: Traffic, count: number): Promise<void> {
  let found = 0
  await until(async () => (found += await deliveryReceipts.match(1000)) >= count)
}
