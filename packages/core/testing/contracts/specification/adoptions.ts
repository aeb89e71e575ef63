import { adoptionWindow, ownIdTag, type CarrierId, type DeliveryReceipt } from '@gateway/core/dispatch'
import type { MessageId, Msisdn } from '@gateway/core/messages'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { isForNumber } from './outcomes.ts'

/** Receipt that matched no message, with its time of arrival. */
export interface StoredDeliveryReceipt {
  readonly receipt: DeliveryReceipt
  readonly at: Instant
}

/** Message of unknown outcome (106) without a carrier reference. */
export interface UnknownMessage {
  readonly carrier: CarrierId
  readonly number: Msisdn
  /** Number of parts of the message. A receipt with a reference of its own is expected for each part. */
  readonly parts: number
  /**
   * Time at which the outcome was recorded as unknown. It is not before the submission. If recovery recorded it, it is
   * up to an hour after the submission.
   */
  readonly handedOver: Instant
}

/** Combined content of the receipts with one reference and one number. */
interface Candidate {
  readonly reference: string
  readonly carrier: CarrierId
  readonly number: Msisdn
  /** Earliest submission time in these receipts. */
  readonly submitted: Instant | undefined
  /** Arrival of the first of these receipts. */
  readonly at: Instant
}

/** Returns true if carrier, number and time allow that the receipts belong to the message (ruling 1.17). */
export function fitsUnknown(message: Omit<UnknownMessage, 'parts'>, candidate: Omit<Candidate, 'reference'>): boolean {
  const { carrier, number, submitted, at } = candidate
  const { beforeSubmittedSeconds, beforeReceiptSeconds, afterSeconds } = adoptionWindow
  const from =
    submitted === undefined ? secondsAfter(at, -beforeReceiptSeconds) : secondsAfter(submitted, -beforeSubmittedSeconds)
  const isSame = message.carrier === carrier && message.number === number
  return isSame && message.handedOver > from && message.handedOver < secondsAfter(submitted ?? at, afterSeconds)
}

/**
 * Returns the messages of unknown outcome that adopt references of stored receipts (ruling 1.17). A message adopts the
 * references of the candidates that fit it if there are as many as the message has parts. Each candidate must fit no
 * other message, its first receipt must have arrived at or before `youngest`, and no message to the number may still be
 * in flight without a record. The references are ordered by the arrival of their first receipts. `storedReceipts` are
 * receipts whose references belong to no message.
 */
export function adoptions<M extends UnknownMessage>(
  storedReceipts: readonly StoredDeliveryReceipt[],
  unknown: readonly M[],
  mayBeInFlight: (carrier: CarrierId, number: Msisdn) => boolean,
  youngest: Instant,
): readonly { readonly message: M; readonly references: readonly string[] }[] {
  const byNumber = groupBy(unknown, ({ number }) => number)
  const fits = candidatesOf(storedReceipts).flatMap((candidate) =>
    (byNumber.get(candidate.number) ?? [])
      .filter((message) => fitsUnknown(message, candidate))
      .map((message) => ({ candidate, message })),
  )
  const ofReference = ({ candidate: { carrier, reference } }: (typeof fits)[number]) => `${carrier} ${reference}`
  const perReference = groupBy(fits, ofReference)
  const isCertain = (fit: (typeof fits)[number]): boolean => {
    const { carrier, number, at } = fit.candidate
    return perReference.get(ofReference(fit))?.length === 1 && at <= youngest && !mayBeInFlight(carrier, number)
  }
  return [...groupBy(fits, ({ message }) => message)]
    .filter(([{ parts }, fitting]) => fitting.length === parts && fitting.every(isCertain))
    .map(([message, fitting]) => ({
      message,
      references: fitting
        .map(({ candidate }) => candidate)
        .sort(earlier)
        .map(({ reference }) => reference),
    }))
}

const earlier = (a: Pick<Candidate, 'at' | 'reference'>, b: typeof a): number =>
  a.at - b.at || (a.reference < b.reference ? -1 : 1)

function groupBy<T, K>(items: readonly T[], key: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group === undefined) groups.set(key(item), [item])
    else group.push(item)
  }
  return groups
}

/** Message of unknown outcome that receipts may name by its own id. */
export interface NameableMessage extends Pick<UnknownMessage, 'carrier' | 'number' | 'parts'> {
  readonly id: MessageId
  readonly due: Instant
}

/**
 * Returns the references that a message of unknown outcome gets from stored receipts with its own id, in order of
 * arrival; none if receipts of parts are incomplete.
 */
export function namedReferences(
  message: NameableMessage,
  storedReceipts: readonly StoredDeliveryReceipt[],
): readonly string[] {
  const naming = storedReceipts
    .filter(({ receipt }) => {
      const { carrier, ownId } = receipt
      const isNamed = ownId?.message === message.id && ownId.tag === ownIdTag(message.due)
      return isNamed && carrier === message.carrier && isForNumber(receipt, message.number)
    })
    .map(({ receipt: { reference, isOfPart }, at }) => ({ reference, isOfPart, at }))
    .sort(earlier)
  const references = [...new Set(naming.map(({ reference }) => reference))]
  const isInParts = message.parts > 1 && naming.some(({ isOfPart }) => isOfPart === true)
  if (isInParts) return references.length === message.parts ? references : []
  return references.slice(0, 1)
}

/**
 * Returns the candidates. If receipts with one reference have different numbers, each number becomes a candidate, so
 * that the reference is ambiguous and is not adopted.
 */
function candidatesOf(storedReceipts: readonly StoredDeliveryReceipt[]): readonly Candidate[] {
  const candidates = new Map<string, Candidate>()
  for (const { receipt, at } of storedReceipts) {
    const { carrier, reference, number, ownId } = receipt
    if (number === undefined || ownId !== undefined) continue
    const key = JSON.stringify([carrier, reference, number])
    const before = candidates.get(key)
    candidates.set(key, {
      ...{ carrier, reference, number },
      submitted: earliest(before, receipt),
      at: before === undefined || at < before.at ? at : before.at,
    })
  }
  return [...candidates.values()]
}

function earliest(
  { submitted: before }: Pick<Candidate, 'submitted'> = { submitted: undefined },
  { submitted }: Pick<DeliveryReceipt, 'submitted'>,
): Instant | undefined {
  if (before === undefined || submitted === undefined) return before ?? submitted
  return submitted < before ? submitted : before
}
