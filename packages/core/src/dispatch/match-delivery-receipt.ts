import { isFinal } from '../messages/status-code.ts'
import type { DeliveryReceipt, DeliveryReceiptCode } from './delivery-receipt.ts'

/** How receipts and messages of one reference belong together. Carriers use their references again. */
export const receiptMatching = {
  /** A message is its receipt's without doubt if it is not older than so many days before the receipt. */
  referenceDays: 7,
  /** An older message is the receipt's after all if no younger one has come for so many seconds. */
  olderAfterSeconds: 600,
  /** For so many days a receipt is kept that has found no message. */
  keptDays: 3,
  /** It is looked for again after a second, and after twice as long each time, but at least so often. */
  retrySecondsMax: 3600,
} as const

/**
 * Of two receipts of one message, in the order in which they came, the one that counts: the first final one, else the
 * last (P-7).
 */
export const countingReceipt = <R extends { readonly code: DeliveryReceiptCode }>(before: R | undefined, next: R): R =>
  before !== undefined && isFinal(before.code) ? before : next

/**
 * The receipts of a call in the order in which they are applied: those that are none come before all guesses, so that
 * no guess displaces one.
 */
export function guessesApart(receipts: readonly DeliveryReceipt[]): readonly (readonly DeliveryReceipt[])[] {
  const isGuess = (receipt: DeliveryReceipt): boolean => receipt.isGuess === true
  if (!receipts.some(isGuess)) return [receipts]
  return [receipts.filter((receipt) => !isGuess(receipt)), receipts.filter(isGuess)]
}

/** When a receipt and an unknown message fit in time, in seconds; bounds themselves do not fit. */
export const adoptionWindow = {
  /** The message may be so much older than the carrier says that it was submitted: clocks differ. */
  beforeSubmittedSeconds: 300,
  /** Where the carrier does not say it: so much older than the receipt. */
  beforeReceiptSeconds: 3 * 86_400,
  /** And so much younger than either: a lost dispatcher's messages are called unknown only by recovery. */
  afterSeconds: 3600,
} as const
