import { isFinal, OUTCOME, type OutcomeCode } from '../message/status-code.ts'
import type { DeliveryReceiptCode } from './delivery-receipt.ts'

// Stores decide this for many rows in one statement: a contract proves over generated cases that they agree.

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

/**
 * The state of a message of several parts once `told`, the new states of some, are known and `undelivered` parts are still not delivered: it has
 * failed as soon as one part has, and is delivered when all are. Of several failures in one call the one with the lowest code counts, of
 * other states the one with the highest.
 */
export function codeByParts(
  before: OutcomeCode,
  told: readonly DeliveryReceiptCode[],
  undelivered: number,
): OutcomeCode {
  if (isFinal(before)) return before
  const failures = told.filter((code) => isFinal(code) && code !== OUTCOME.delivered)
  if (failures.length > 0) return least(failures)
  if (undelivered === 0) return OUTCOME.delivered
  const open = told.filter((code) => !isFinal(code))
  return open.length > 0 ? open.reduce((a, b) => (b > a ? b : a)) : before
}

const least = (codes: readonly DeliveryReceiptCode[]): DeliveryReceiptCode => codes.reduce((a, b) => (b < a ? b : a))
