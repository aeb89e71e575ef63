import { adoptionWindow, type CarrierId, type DeliveryReceipt } from '@gateway/core/dispatch'
import type { Msisdn } from '@gateway/core/messages'
import { secondsAfter, type Instant } from '@gateway/core/time'

/** Receipt that matched no message, with its time of arrival. */
export interface StoredDeliveryReceipt {
  readonly receipt: DeliveryReceipt
  readonly at: Instant
}

/** Message of unknown outcome (106) without a carrier reference. */
export interface UnknownMessage {
  readonly carrier: CarrierId
  readonly number: Msisdn
  /** Number of receipts with different references that are expected, one for each part. */
  readonly parts: number
  /** Time at which the outcome became unknown: not before the submission, and after recovery up to an hour later. */
  readonly left: Instant
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

/** Returns true if the receipts may belong to the message by carrier, number and time (ruling 1.17). */
export function fitsUnknown(message: Omit<UnknownMessage, 'parts'>, candidate: Omit<Candidate, 'reference'>): boolean {
  const { carrier, number, submitted, at } = candidate
  const { beforeSubmittedSeconds, beforeReceiptSeconds, afterSeconds } = adoptionWindow
  const from =
    submitted === undefined ? secondsAfter(at, -beforeReceiptSeconds) : secondsAfter(submitted, -beforeSubmittedSeconds)
  const isSame = message.carrier === carrier && message.number === number
  return isSame && message.left > from && message.left < secondsAfter(submitted ?? at, afterSeconds)
}

/**
 * Returns the messages of unknown outcome that adopt references of stored receipts (ruling 1.17). A message adopts them
 * if as many candidates fit as it has parts, each candidate fits no other message, the first receipt of each arrived at
 * or before `youngest`, and no message to the number is still in flight without a record. The receipt that arrived
 * first is considered first. `storedReceipts` are receipts whose references no message has.
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

const earlier = (a: Candidate, b: Candidate): number => a.at - b.at || (a.reference < b.reference ? -1 : 1)

function groupBy<T, K>(items: readonly T[], key: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group === undefined) groups.set(key(item), [item])
    else group.push(item)
  }
  return groups
}

/**
 * Returns the candidates. Receipts with one reference and different numbers become several candidates, so that none is
 * the only one.
 */
function candidatesOf(storedReceipts: readonly StoredDeliveryReceipt[]): readonly Candidate[] {
  const candidates = new Map<string, Candidate>()
  for (const { receipt, at } of storedReceipts) {
    const { carrier, reference, number } = receipt
    if (number === undefined) continue
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
