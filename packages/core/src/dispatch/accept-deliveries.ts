import { receive } from '../inbox/receive.ts'
import type { InboundMessage } from '../inbox/inbound-message.ts'
import type { Received } from '../inbox/inbox.ts'
import type { Body } from '../messages/body.ts'
import type { Ports } from '../ports.ts'
import type { CarrierId } from './carrier-id.ts'
import type { DeliveryReceipt } from './delivery-receipt.ts'
import type { UnreadReceipt } from './unread-receipt.ts'

// These functions accept deliveries of a carrier that may arrive in any process, such as callbacks over HTTP. The
// caller acknowledges a delivery to the carrier after the promise has resolved. If the promise rejects, the carrier
// offers the delivery again (P-7).

/**
 * Stores receipts of a carrier. Resolves to the receipts that match no message yet; these are kept and matched later,
 * unless they are guesses.
 */
export const acceptReceipts =
  ({ deliveryReceipts }: Pick<Ports, 'deliveryReceipts'>) =>
  (carrier: CarrierId, receipts: readonly Omit<DeliveryReceipt, 'carrier'>[]): Promise<readonly DeliveryReceipt[]> =>
    deliveryReceipts.apply(receipts.map((one) => ({ ...one, carrier })))

/**
 * Stores messages that people sent to us, with their effects (rulings 1.18 to 1.22). Give each message the carrier's
 * reference, so that a repetition is stored once.
 */
export const acceptInboundMessages =
  (ports: Pick<Ports, 'inbox'>, confirmation: Body) =>
  (carrier: CarrierId, messages: readonly Omit<InboundMessage, 'carrier'>[]): Promise<readonly Received[]> =>
    receive(ports, confirmation)(messages.map((one) => ({ ...one, carrier })))

/** Keeps deliveries of a carrier that cannot be read (P-21). */
export const acceptUnread =
  ({ deliveryReceipts }: Pick<Ports, 'deliveryReceipts'>) =>
  (carrier: CarrierId, deliveries: readonly Omit<UnreadReceipt, 'carrier'>[]): Promise<void> =>
    deliveryReceipts.storeUnread(deliveries.map((one) => ({ ...one, carrier })))
