import {
  receiptMatching,
  type CarrierId,
  type DeliveryReceipt,
  type DeliveryReceiptCode,
  type Handover,
} from '@gateway/core/dispatch'
import { isFinal, isTaken, OUTCOME, type MessageLocation, type Msisdn, type OutcomeCode } from '@gateway/core/messages'
import { daysBefore, secondsAfter, type Instant } from '@gateway/core/time'

interface Stored {
  readonly code: OutcomeCode
  /** The carrier's own id; undefined: never accepted, or not known to be. */
  readonly reference: string | undefined
}

/** Whether nobody knows what became of the message, and no receipt was adopted for it (ruling 1.17). */
export const isUnresolved = ({ code, reference }: Stored): boolean =>
  code === OUTCOME.unknown && reference === undefined

/**
 * Whether a dispatcher that was declared dead tells late what a message is that was called unknown; nothing else
 * changes (ruling 1.17).
 */
export const isLateTruth = (before: Stored, told: Handover['outcome']): boolean =>
  isUnresolved(before) && told !== 'unknown'

/** Whether a dispatcher may be declared dead. */
export const isOverdue = (leaseUntil: Instant, now: Instant): boolean => leaseUntil < now

/** Whether a message that was handed over at `left` is young enough to be meant by a receipt without doubt. */
export const isRecentFor = (left: Instant, receivedAt: Instant): boolean =>
  left > daysBefore(receivedAt, receiptMatching.referenceDays)

/** A receipt that tells a number is never that of a message to another one, whatever their references. */
export const isForNumber = (receipt: Pick<DeliveryReceipt, 'number'>, to: Msisdn): boolean =>
  receipt.number === undefined || receipt.number === to

/** Whether a kept receipt speaks of the newest message of its reference. */
export const isOwnReceipt = (left: Instant, receivedAt: Instant, now: Instant): boolean =>
  isRecentFor(left, receivedAt) || receivedAt < secondsAfter(now, -receiptMatching.olderAfterSeconds)

/**
 * Whether a receipt changes a message: a final state never changes again, and the same state is no change (ruling 1.17;
 * P-7).
 */
export const changesState = (before: OutcomeCode, told: DeliveryReceiptCode): boolean =>
  !isFinal(before) && before !== told

/**
 * The state of a message of several parts once `told`, the new states of some, are known and `undelivered` parts are
 * still not delivered: it has failed as soon as one part has, and is delivered when all are. Of several failures in one
 * call the one with the lowest code counts, of other states the one with the highest.
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

/**
 * Which kept receipts a trace tells: those of the message's own references; before it has one, those of the carrier
 * that has it or may have it, to its number. Undefined: none.
 */
export function receiptsSought(
  place: MessageLocation,
): { readonly carrier: CarrierId; readonly references: readonly string[] | undefined } | undefined {
  if (place.place === 'claimed') return place.marked ? { carrier: place.carrier, references: undefined } : undefined
  if (place.place !== 'decided' || place.carrier === undefined) return undefined
  const { carrier, code, reference, parts } = place
  if (!isTaken({ code, hasReference: reference !== undefined })) return undefined
  if (reference === undefined) return { carrier, references: undefined }
  return { carrier, references: parts.length === 0 ? [reference] : parts.map((part) => part.reference) }
}
