import type { Ports } from '@gateway/core'
import type { Handover, DeliveryReceiptCode } from '@gateway/core/dispatch'
import { scriptedCarrier } from '@gateway/core/testing'

const carrier = scriptedCarrier().id

/**
 * Submits all due messages to a carrier that gives each of them this outcome. If `receipt` is given, accepted messages
 * get this delivery receipt.
 */
export async function carry(
  { claimedBatches, deliveryReceipts }: Ports,
  outcome: Handover['outcome'],
  receipt?: DeliveryReceiptCode,
): Promise<void> {
  const dispatcher = await claimedBatches.register(60)
  for (const lane of ['single', 'bulk'] as const) {
    const batch = await claimedBatches.claim(dispatcher, {
      carrier,
      lane,
      messagesMax: 1000,
      markedMax: 1000,
      leaseSeconds: 60,
    })
    if (typeof batch === 'string') continue
    const recorded = batch.messages.map((message) => {
      const handover: Handover =
        outcome === 'accepted' || outcome === 'partly' ? { outcome, reference: `${message.id}` } : { outcome }
      return { batch: batch.id, message, handover }
    })
    await claimedBatches.record(dispatcher, recorded)
    if (receipt === undefined) continue
    await deliveryReceipts.apply(
      batch.messages.map(({ id }) => ({
        carrier,
        reference: `${id}`,
        code: receipt,
        number: undefined,
        submitted: undefined,
      })),
    )
  }
}
