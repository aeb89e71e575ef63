import {
  receiptMatching,
  type CarrierId,
  type DeliveryReceipt,
  type DeliveryReceiptCode,
  type Handover,
} from '@gateway/core/dispatch'
import { isFinal, OUTCOME, type MessageLocation, type Msisdn, type OutcomeCode } from '@gateway/core/messages'
import { daysBefore, secondsAfter, type Instant } from '@gateway/core/time'

interface Stored {
  readonly code: OutcomeCode
  /**
   * Carrier's id of the message. Undefined if the carrier did not accept the message, or if its acceptance is not
   * known.
   */
  readonly reference: string | undefined
}

/** Returns true if the outcome of a message is unknown and no receipt was adopted for it (ruling 1.17). */
export const isUnresolved = ({ code, reference }: Stored): boolean =>
  code === OUTCOME.unknown && reference === undefined

/**
 * Returns true if a late report replaces an unknown outcome. A report is late if its dispatcher was already declared
 * dead. Late reports change nothing else (ruling 1.17).
 */
export const isLateTruth = (before: Stored, reported: Handover['outcome']): boolean =>
  isUnresolved(before) && reported !== 'unknown'

/** Returns true if a dispatcher may be declared dead. */
export const isOverdue = (leaseUntil: Instant, now: Instant): boolean => leaseUntil < now

/**
 * Returns true if a message submitted at `handedOver` is so recent that a receipt with its reference must belong to it.
 */
export const isRecentFor = (handedOver: Instant, receivedAt: Instant): boolean =>
  handedOver > daysBefore(receivedAt, receiptMatching.referenceDays)

/**
 * Returns true if a receipt may belong to a message to this number. A receipt with a number never matches a message to
 * a different number, even if the references are equal.
 */
export const isForNumber = (receipt: Pick<DeliveryReceipt, 'number'>, to: Msisdn): boolean =>
  receipt.number === undefined || receipt.number === to

/** Returns true if a stored receipt belongs to the newest message of its reference. */
export const isOwnReceipt = (handedOver: Instant, receivedAt: Instant, now: Instant): boolean =>
  isRecentFor(handedOver, receivedAt) || receivedAt < secondsAfter(now, -receiptMatching.olderAfterSeconds)

/**
 * Returns true if a receipt changes a message. A final state never changes again, and the same state is not a change
 * (ruling 1.17; P-7).
 */
export const changesState = (before: OutcomeCode, reported: DeliveryReceiptCode): boolean =>
  !isFinal(before) && before !== reported

/**
 * Returns the state of a message of several parts. `reported` are the new states of some parts, and `undelivered` is
 * the number of parts that are not delivered after that. The message fails as soon as one part fails, and is delivered
 * when all parts are. If one call reports several failures, the lowest code wins; among other states the highest code
 * wins.
 */
export function codeByParts(
  before: OutcomeCode,
  reported: readonly DeliveryReceiptCode[],
  undelivered: number,
): OutcomeCode {
  if (isFinal(before)) return before
  const failures = reported.filter((code) => isFinal(code) && code !== OUTCOME.delivered)
  if (failures.length > 0) return least(failures)
  if (undelivered === 0) return OUTCOME.delivered
  const open = reported.filter((code) => !isFinal(code))
  return open.length > 0 ? open.reduce((a, b) => (b > a ? b : a)) : before
}

const least = (codes: readonly DeliveryReceiptCode[]): DeliveryReceiptCode => codes.reduce((a, b) => (b < a ? b : a))

/**
 * Returns which stored receipts a trace lists: those with the references of the message. If the message has no
 * reference yet, these are the carrier's receipts for its number. Returns undefined if no carrier may have the message.
 */
export function receiptsSought(
  place: MessageLocation,
): { readonly carrier: CarrierId; readonly references: readonly string[] | undefined } | undefined {
  if (place.place === 'claimed') return place.marked ? { carrier: place.carrier, references: undefined } : undefined
  if (place.place !== 'decided' || place.carrier === undefined) return undefined
  const { carrier, code, reference, parts } = place
  if (reference === undefined && code !== OUTCOME.unknown) return undefined
  if (reference === undefined) return { carrier, references: undefined }
  return { carrier, references: parts.length === 0 ? [reference] : parts.map((part) => part.reference) }
}
