import { adoptionWindow, type CarrierId, type DeliveryReceipt } from '@gateway/core/dispatch'
import type { Msisdn } from '@gateway/core/messages'
import { secondsAfter, type Instant } from '@gateway/core/time'

/** A receipt that found no message, and when it came. */
export interface KeptDeliveryReceipt {
  readonly receipt: DeliveryReceipt
  readonly at: Instant
}

/** A message of unknown outcome (106) that has no reference of its carrier. */
export interface UnknownMessage {
  readonly carrier: CarrierId
  readonly number: Msisdn
  /** So many receipts of different references are awaited: one a part. */
  readonly parts: number
  /** When it became known that nobody knows: not before it left, and after recovery up to an hour later. */
  readonly left: Instant
}

/** What the receipts of one reference that tell one number say together. */
interface Candidate {
  readonly reference: string
  readonly carrier: CarrierId
  readonly number: Msisdn
  /** The earliest that one of them tells. */
  readonly submitted: Instant | undefined
  /** When the first of them came. */
  readonly at: Instant
}

/** Whether by carrier, number and time a message may be the one that receipts speak of (ruling 1.17). */
export function fitsUnknown(message: Omit<UnknownMessage, 'parts'>, candidate: Omit<Candidate, 'reference'>): boolean {
  const { carrier, number, submitted, at } = candidate
  const { beforeSubmittedSeconds, beforeReceiptSeconds, afterSeconds } = adoptionWindow
  const from =
    submitted === undefined ? secondsAfter(at, -beforeReceiptSeconds) : secondsAfter(submitted, -beforeSubmittedSeconds)
  const isSame = message.carrier === carrier && message.number === number
  return isSame && message.left > from && message.left < secondsAfter(submitted ?? at, afterSeconds)
}

/**
 * Which messages of unknown outcome get the references of kept receipts, of the receipt that came first before others:
 * where exactly as many fit as the message has parts and each fits nothing else, the first receipt of each came at
 * `youngest` or before, and no message to that number that may have left is still unrecorded (ruling 1.17). `kept` are
 * receipts whose references no message has.
 */
export function adoptions<M extends UnknownMessage>(
  kept: readonly KeptDeliveryReceipt[],
  unknown: readonly M[],
  mayBeInFlight: (carrier: CarrierId, number: Msisdn) => boolean,
  youngest: Instant,
): readonly { readonly message: M; readonly references: readonly string[] }[] {
  const byNumber = groupBy(unknown, ({ number }) => number)
  const fits = candidatesOf(kept).flatMap((candidate) =>
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
    .filter(([{ parts }, its]) => its.length === parts && its.every(isCertain))
    .map(([message, its]) => ({
      message,
      references: its
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

/** Receipts of one reference that tell different numbers are several candidates, of which none can be the only one. */
function candidatesOf(kept: readonly KeptDeliveryReceipt[]): readonly Candidate[] {
  const candidates = new Map<string, Candidate>()
  for (const { receipt, at } of kept) {
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
