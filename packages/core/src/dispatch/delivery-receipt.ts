import type { CarrierPrice } from '../messages/carrier-price.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import { type OUTCOME, isFinal } from '../messages/status-code.ts'
import type { Instant } from '../time/instant.ts'
import type { CarrierId } from './carrier-id.ts'
import type { OwnId } from './own-id.ts'

/**
 * Codes that a delivery receipt can report (ruling 1.16). `optedOut`: the recipient has opted out of our messages at
 * the carrier (ruling 6.2).
 */
export type DeliveryReceiptCode = (typeof OUTCOME)[
  'delivered' | 'expired' | 'cancelled' | 'undeliverable' | 'underWay' | 'unknown' | 'rejected' | 'failed' | 'optedOut']

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
  /**
   * Our own id of the message, if the carrier returned it. The message that it names gets `reference` if its outcome is
   * unknown and it has no reference yet (ruling 1.17).
   */
  readonly ownId?: OwnId | undefined
  /** True if a receipt with `ownId` reports on one part of the message. If omitted, it reports on the whole message. */
  readonly isOfPart?: boolean | undefined
  /**
   * Price of the whole message, if the receipt names one. The first price that a carrier names for a message counts.
   */
  readonly price?: CarrierPrice | undefined
}

/** The carrier's references of an accepted message, by which receipts name the message or its parts. */
export interface CarrierReferences {
  /** The carrier's own id of the message, or of its first part. */
  readonly reference: string
  /** References of the other parts, in order; absent if the message was accepted as one part. */
  readonly furtherReferences?: readonly string[]
  /** Price of the whole message, if the carrier named one. */
  readonly price?: CarrierPrice | undefined
}

/**
 * Returns the distinct references of a message. A carrier may give several parts one id, and then reports on all of
 * them with one receipt.
 */
export const referencesOf = ({ reference, furtherReferences = [] }: CarrierReferences): readonly string[] => [
  ...new Set([reference, ...furtherReferences]),
]

/** Limits for matching receipts to messages by reference. They are needed because carriers reuse references. */
export const receiptMatching = {
  /** A message at most this many days older than the receipt is certainly the receipt's message. */
  referenceDays: 7,
  /** Seconds to wait for a younger message with the reference before a receipt is matched to an older message. */
  olderAfterSeconds: 600,
  /** Days for which an unmatched receipt is stored. */
  keptDays: 3,
  /**
   * Maximum seconds between two attempts to match a receipt. The first retry follows after a second; the interval
   * doubles each time.
   */
  retrySecondsMax: 3600,
} as const

/**
 * Returns which of two receipts of one message counts, in order of arrival: the first final one, otherwise the last one
 * (P-7).
 */
export const countingReceipt = <R extends { readonly code: DeliveryReceiptCode }>(before: R | undefined, next: R): R =>
  before !== undefined && isFinal(before.code) ? before : next

/**
 * Returns the receipts of a call in the order in which they are applied: all guesses after the others, so that a guess
 * never displaces a certain receipt.
 */
export function guessesApart(receipts: readonly DeliveryReceipt[]): readonly (readonly DeliveryReceipt[])[] {
  const isGuess = (receipt: DeliveryReceipt): boolean => receipt.isGuess === true
  if (!receipts.some(isGuess)) return [receipts]
  return [receipts.filter((receipt) => !isGuess(receipt)), receipts.filter(isGuess)]
}

/**
 * Time differences, in seconds, within which a receipt fits a message of unknown outcome. The limits themselves do not
 * fit.
 */
export const adoptionWindow = {
  /** How much older than the receipt's submission time the message may be, because clocks differ. */
  beforeSubmittedSeconds: 300,
  /** How much older than the receipt the message may be, if the receipt has no submission time. */
  beforeReceiptSeconds: 3 * 86_400,
  /**
   * How much younger the message may be than the submission time or, if there is none, than the receipt. Messages of a
   * lost dispatcher become unknown only at recovery.
   */
  afterSeconds: 3600,
} as const
