import type { AccountId } from '../accounts/account.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { DispatcherId, Lane } from '../dispatch/claimed-batches.ts'
import type { DeliveryReceiptCode } from '../dispatch/delivery-receipt.ts'
import type { Route } from '../routes/routes.ts'
import { credits, minus, type Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import type { Body } from './body.ts'
import { sentCredits, type SentCredits } from './message-facts.ts'
import type { MessageId, MessageReference } from './messages.ts'
import type { Msisdn, SenderAddress } from './msisdn.ts'
import type { OutcomeCode } from './status-code.ts'
import type { SendOptions } from './send-options.ts'

/** What happened to a message, for its operator. Never its text, only how long that is (P-15). */
export interface MessageTrace {
  readonly id: MessageId
  readonly account: AccountId
  readonly number: Msisdn
  /** Undefined: accepted before messages had an address of ours. */
  readonly from: SenderAddress | undefined
  /** It confirms an opt-out, at no price (ruling 1.21). */
  readonly confirmation: boolean
  /** When it was accepted and charged. */
  readonly accepted: Instant
  /** Undefined: to be sent at once, or its time was past. */
  readonly scheduled: Instant | undefined
  /** When its own validity is over (ruling 1.29); undefined: it has none. */
  readonly expires: Instant | undefined
  readonly options: SendOptions
  readonly text: TracedText
  /** What was charged for it. */
  readonly cost: Credits
  /** What its account calls it. */
  readonly reference: MessageReference | undefined
  readonly send: TracedSend
  /** The operator gave its charge back; undefined: no. */
  readonly refundByHand: { readonly at: Instant; readonly why: string } | undefined
  /** The route that was chosen when it was accepted; undefined: there were no routes. */
  readonly route: TracedRoute | undefined
  readonly place: MessageLocation
  /** How often a carrier refused it for now. */
  readonly refusedForNow: number
  /** What is rare, by time; of more than `traceLinesMax` the latest. */
  readonly incidents: readonly Incident[]
  /** Receipts that are kept, by time; of more than `traceLinesMax` the latest. */
  readonly receipts: readonly TracedReceipt[]
}

export interface TracedText {
  /** As a reader counts them: code points. */
  readonly characters: number
  readonly encoding: Body['encoding']
  readonly parts: number
}

/** A route, as it is now. */
export interface TracedRoute extends Route {
  /** Its place in the order in which routes are tried, from 1; undefined: it is not published any more. */
  readonly place: number | undefined
}

/**
 * One text to many numbers at one price: its debit is one entry of the ledger, and so is a refund of several of its
 * messages.
 */
export interface TracedSend {
  readonly first: MessageId
  readonly messages: number
  readonly debit: Credits
  /** By code, as all of it was refunded so far, this message or others; without a code: by hand. */
  readonly refunds: readonly TracedRefund[]
}

export interface TracedRefund {
  /** Undefined: the operator did it. */
  readonly code: OutcomeCode | undefined
  /** Undefined where a message cost nothing. */
  readonly messages: number | undefined
  readonly amount: Credits
  readonly first: Instant
  readonly last: Instant
}

/**
 * Where a message is, in exactly one place at every committed moment. Attempt: how often a carrier refused it for now.
 * In doubt: a lost database server may have had it submitted (`Promotions`). Nowhere: in none of them, which is a
 * defect or a hand in the database.
 */
export type MessageLocation =
  | { readonly place: 'scheduled'; readonly due: Instant }
  | { readonly place: 'postponed'; readonly until: Instant; readonly attempt: number }
  | { readonly place: 'queue'; readonly lane: Lane; readonly due: Instant; readonly attempt: number }
  | { readonly place: 'in-doubt'; readonly due: Instant; readonly attempt: number }
  | ClaimedLocation
  | DecidedLocation
  | { readonly place: 'nowhere' }

export interface ClaimedLocation {
  readonly place: 'claimed'
  readonly dispatcher: DispatcherId
  readonly carrier: CarrierId
  /** Whether it may have left. */
  readonly marked: boolean
  readonly attempt: number
  readonly leaseUntil: Instant
  /** Whether the lease is over, by the store's clock: then the message waits for recovery. */
  readonly overdue: boolean
}

export interface DecidedLocation {
  readonly place: 'decided'
  readonly code: OutcomeCode
  /** When that state was reached. */
  readonly at: Instant
  /** When the first outcome was stored: what the hand-over came to, or that it ended without one. */
  readonly stored: Instant
  /** Undefined: it was handed to none. */
  readonly carrier: CarrierId | undefined
  /** The carrier's own id of the message, or of its first part; undefined: it never gave one, or that is not known. */
  readonly reference: string | undefined
  /** Where the carrier took it as several parts: each, in their order. */
  readonly parts: readonly TracedPart[]
  readonly refunded: boolean
}

/** One part of a message, with an id of the carrier and a state of its own. */
export interface TracedPart {
  readonly reference: string
  readonly code: OutcomeCode
  /** When its receipt came; undefined: none has. */
  readonly at: Instant | undefined
}

/** What of a send was given back for this message, and what for others. */
export interface RefundsOfTrace {
  readonly own:
    { readonly at: Instant; readonly code: OutcomeCode | undefined; readonly why: string | undefined } | undefined
  readonly others: readonly TracedRefund[]
}

/** Tells the refund of this message apart from those of others of its send, which the ledger adds up by code. */
export function refundsOf({ place, refundByHand, cost, send }: MessageTrace): RefundsOfTrace {
  const own =
    refundByHand !== undefined
      ? { ...refundByHand, code: undefined }
      : place.place === 'decided' && place.refunded
        ? { at: place.at, code: place.code, why: undefined }
        : undefined
  const others = send.refunds.flatMap((refund) => {
    if (own === undefined || refund.code !== own.code) return [refund]
    const amount = minus(refund.amount, cost)
    const messages = refund.messages === undefined ? undefined : refund.messages - 1
    // Its own moment is the first or the last of all of them; then that of the others is the other end.
    const first = refund.first === own.at ? refund.last : refund.first
    const last = refund.last === own.at ? refund.first : refund.last
    return amount > 0 ? [{ ...refund, amount, messages, first, last }] : []
  })
  return { own, others }
}

/** What stores tell of a message besides its state; a store of another version may tell what is not named here. */
export const INCIDENT = {
  /** The carrier refused it for now. */
  refusedForNow: 'refused for now',
  /** Its dispatcher ended without telling what became of it, after it may have left. */
  recovered: 'recovered',
  /** The carrier did not tell whether it took it. */
  unknown: 'unknown',
  /** Its dispatcher told later what became of it. */
  late: 'late',
  /** It was given the reference of a receipt that fits nothing else. */
  adopted: 'adopted',
  /** It was in doubt after a database server was lost, and ended so. */
  endedInDoubt: 'ended in doubt',
  /** It was in doubt after a database server was lost; a dispatcher or a receipt proved that it had been submitted. */
  provedSubmitted: 'proved submitted',
  /** The carriers of a better priority were full for as long as its route lets it wait: this carrier claimed it. */
  overflow: 'overflow',
} as const

export interface Incident {
  readonly at: Instant
  readonly what: string
  /** The carrier that did it; undefined: none did, or it is not known. */
  readonly carrier: CarrierId | undefined
}

/** A receipt that is kept, because it has not found its message yet. Those that did are the message's state. */
export interface TracedReceipt {
  readonly at: Instant
  readonly carrier: CarrierId
  readonly reference: string
  readonly code: DeliveryReceiptCode
  /**
   * Own: by the carrier's id of the message. Same number: it may be this message's, or another's to that number. Other
   * number: it has the carrier's id of the message and names another number, so that it is never applied.
   */
  readonly fits: 'own' | 'same-number' | 'other-number'
}

/** So many incidents, and so many receipts, a trace tells at the most. */
export const traceLinesMax = 100

/**
 * Which messages are looked for: those to a number, those with a reference, or both. Bounds of time are of
 * `FoundMessage.due`.
 */
export type MessageSearch = SearchBounds & WhichMessages

export type WhichMessages =
  | { readonly number: Msisdn; readonly reference?: MessageReference | undefined }
  | { readonly number?: undefined; readonly reference: MessageReference }

export interface SearchBounds {
  /** Left out: of every account. */
  readonly account?: AccountId | undefined
  readonly from?: Instant | undefined
  /** Before this. */
  readonly to?: Instant | undefined
  /** Only what comes after this one in the order of the list. */
  readonly after?: Pick<FoundMessage, 'due' | 'id'> | undefined
}

/** A message as far as a list shows it. Never its text (P-15). */
export interface FoundMessage {
  readonly id: MessageId
  readonly account: AccountId
  /** Undefined: accepted before messages had an address of ours. */
  readonly from: SenderAddress | undefined
  /** It confirms an opt-out, at no price (ruling 1.21). */
  readonly confirmation: boolean
  readonly accepted: Instant
  /**
   * When it was or is to be sent: its scheduled time, else when it was accepted. Its age counts from here (ruling
   * 1.16).
   */
  readonly due: Instant
  readonly scheduled: boolean
  /** What was charged for it. */
  readonly cost: Credits
  readonly number: Msisdn
  /** What its account calls it. */
  readonly reference: MessageReference | undefined
  readonly options: SendOptions
  readonly place: FoundLocation
}

/** As `MessageLocation`, as far as a list shows it. */
export type FoundLocation =
  | Exclude<MessageLocation, ClaimedLocation | DecidedLocation | { readonly place: 'nowhere' | 'queue' | 'in-doubt' }>
  | { readonly place: 'queue' | 'in-doubt'; readonly attempt: number }
  | Pick<ClaimedLocation, 'place' | 'marked' | 'attempt'>
  | Pick<DecidedLocation, 'place' | 'code' | 'at' | 'refunded'>

/** Returns the credits of a traced or found message. A refund returns the whole charge of a message. */
export const tracedCredits = ({ cost, place }: Pick<MessageTrace | FoundMessage, 'cost' | 'place'>): SentCredits =>
  sentCredits(cost, place.place === 'decided' && place.refunded ? cost : credits(0))

/** What happened to messages. */
export interface MessageTraces {
  /** All of it as of one moment. Undefined: no message has this id, or its history was dropped. */
  of(id: MessageId): Promise<MessageTrace | undefined>
  /**
   * The first `limit` of the messages that are looked for, the latest due first, then the highest id; all as of one
   * moment. What is decided and was due before `decidedSince` is not among them.
   */
  find(search: MessageSearch, decidedSince: Instant, limit: number): Promise<readonly FoundMessage[]>
}
