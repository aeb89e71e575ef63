import type { Handover, Ports, DeliveryReceiptCode } from '@gateway/core'
import { scriptedCarrier } from '@gateway/core/testing'

const carrier = scriptedCarrier().id

/** Hands everything that is due to a carrier, which answers so; what it accepts gets a receipt if there is one. */
export async function carry(
  { flights, deliveryReceipts }: Ports,
  outcome: Handover['outcome'],
  receipt?: DeliveryReceiptCode,
): Promise<void> {
  const dispatcher = await flights.register(60)
  for (const lane of ['single', 'bulk'] as const) {
    const flight = await flights.claim(dispatcher, {
      carrier,
      lane,
      messagesMax: 1000,
      markedMax: 1000,
      leaseSeconds: 60,
    })
    if (typeof flight === 'string') continue
    const recorded = flight.messages.map((message) => {
      const handover: Handover = outcome === 'accepted' ? { outcome, reference: `${message.id}` } : { outcome }
      return { flight: flight.id, message, handover }
    })
    await flights.record(dispatcher, [flight.id], recorded)
    if (receipt === undefined) continue
    await deliveryReceipts.apply(
      flight.messages.map(({ id }) => ({
        carrier,
        reference: `${id}`,
        code: receipt,
        number: undefined,
        submitted: undefined,
      })),
    )
  }
}
