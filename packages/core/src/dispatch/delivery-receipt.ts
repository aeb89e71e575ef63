import type { Msisdn } from '../messages/msisdn.ts'
import type { OUTCOME } from '../messages/status-code.ts'
import type { Instant } from '../time/instant.ts'
import type { CarrierId } from './carrier-id.ts'

/** What a delivery receipt can say (ruling 1.16). */
export type DeliveryReceiptCode = (typeof OUTCOME)[
  'delivered' | 'expired' | 'cancelled' | 'undeliverable' | 'underWay' | 'unknown' | 'rejected' | 'failed']

/** A delivery receipt as a carrier reports it. */
export interface DeliveryReceipt {
  readonly carrier: CarrierId
  /** The carrier's own id of the message, as it gave it when it accepted the message. */
  readonly reference: string
  readonly code: DeliveryReceiptCode
  /** The recipient, if the receipt tells. */
  readonly number: Msisdn | undefined
  /** When the carrier says that it was submitted, if it does. */
  readonly submitted: Instant | undefined
  /**
   * The carrier wrote another reference, of which this may be a form: it counts only for a message to this very number,
   * and is not kept if there is none.
   */
  readonly isGuess?: boolean
}

/** How receipts refer to a message that a carrier took, whole or as several parts. */
export interface CarrierReferences {
  /** The carrier's own id of the message, or of its first part. */
  readonly reference: string
  /** Of the other parts, in their order; none: it was taken as one. */
  readonly furtherReferences?: readonly string[]
}

/** The references of a message, each once: a carrier may give several parts one id, and then tells of them together. */
export const referencesOf = ({ reference, furtherReferences = [] }: CarrierReferences): readonly string[] => [
  ...new Set([reference, ...furtherReferences]),
]
