import type { Msisdn } from '../messages/msisdn.ts'
import type { OUTCOME } from '../messages/status-code.ts'
import type { Instant } from '../time/instant.ts'
import type { CarrierId } from './carrier-id.ts'

/** Codes that a delivery receipt can report (ruling 1.16). */
export type DeliveryReceiptCode = (typeof OUTCOME)[
  'delivered' | 'expired' | 'cancelled' | 'undeliverable' | 'underWay' | 'unknown' | 'rejected' | 'failed']

/** A delivery receipt as a carrier reports it. */
export interface DeliveryReceipt {
  readonly carrier: CarrierId
  /** The carrier's own id of the message, returned when the carrier accepted it. */
  readonly reference: string
  readonly code: DeliveryReceiptCode
  /** Recipient, if the receipt names one. */
  readonly number: Msisdn | undefined
  /** Time of submission according to the carrier, if the receipt contains it. */
  readonly submitted: Instant | undefined
  /**
   * True if `reference` is only a possible reading of the carrier's text. Such a receipt is applied only to a message
   * to exactly this number, and is not stored if no message matches.
   */
  readonly isGuess?: boolean
}

/** The carrier's references of an accepted message, by which receipts name the message or its parts. */
export interface CarrierReferences {
  /** The carrier's own id of the message, or of its first part. */
  readonly reference: string
  /** References of the other parts, in order; absent if the message was accepted as one part. */
  readonly furtherReferences?: readonly string[]
}

/**
 * Returns the distinct references of a message. A carrier may give several parts one id, and then reports on all of
 * them with one receipt.
 */
export const referencesOf = ({ reference, furtherReferences = [] }: CarrierReferences): readonly string[] => [
  ...new Set([reference, ...furtherReferences]),
]
