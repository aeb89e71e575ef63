import type { AccountId } from '../accounts/account.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { DispatcherId, Lane } from '../dispatch/claimed-batches.ts'
import type { DeliveryReceiptCode } from '../dispatch/delivery-receipt.ts'
import type { Route } from '../routes/routes.ts'
import { credits, minus, type Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import type { Body } from './body.ts'
import type { CarrierPrice, CarrierPriceSum } from './carrier-price.ts'
import { sentCredits, type SentCredits } from './message-facts.ts'
import type { MessageId } from './message-id.ts'
import type { MessageReference } from './messages.ts'
import type { Msisdn, SenderAddress } from './msisdn.ts'
import type { OutcomeCode } from './status-code.ts'
import type { SmppCredentialId } from '../smpp-customers/smpp-credential.ts'
import type { SendOptions } from './send-options.ts'

/** History of a message for the operator. Contains the length of the text, never the text (P-15). */
export interface MessageTrace {
  readonly id: MessageId
  readonly account: AccountId
  readonly number: Msisdn
  /** Undefined if the message was accepted by a version that did not record sender addresses. */
  readonly from: SenderAddress | undefined
  /** True for the confirmation of an opt-out, which is free (ruling 1.21). */
  readonly confirmation: boolean
  /** Time of acceptance and charge. */
  readonly accepted: Instant
  /** Undefined if the message was to be sent at once or the requested time was in the past. */
  readonly scheduled: Instant | undefined
  /** End of the message's own validity (ruling 1.29), if it has one. */
  readonly expires: Instant | undefined
  readonly options: SendOptions
  readonly text: TracedText
  /** Charged credits. */
  readonly cost: Credits
  /** Reference that the account gave to the message. */
  readonly reference: MessageReference | undefined
  /** Bind over which a customer submitted the message. Undefined: another interface. */
  readonly bind?: TracedBind | undefined
  readonly send: TracedSend
  /** Refund by the operator, if there was one. */
  readonly refundByHand: { readonly at: Instant; readonly why: string } | undefined
  /** Route chosen on acceptance. Undefined if no routes were configured. */
  readonly route: TracedRoute | undefined
  readonly place: MessageLocation
  /** Number of temporary refusals by carriers. */
  readonly refusedForNow: number
  /** Rare incidents, by time. If there are more than `traceLinesMax`, only the latest ones. */
  readonly incidents: readonly Incident[]
  /** Stored receipts, by time. If there are more than `traceLinesMax`, only the latest ones. */
  readonly receipts: readonly TracedReceipt[]
}

export interface TracedBind {
  readonly credential: SmppCredentialId
  /** Name with which the client was bound. Undefined: the credential has been removed. */
  readonly systemId: string | undefined
  /** Address of the client. Undefined for messages of versions that did not record it. */
  readonly remote: string | undefined
}

export interface TracedText {
  /** Length in code points, which is what a reader counts. */
  readonly characters: number
  readonly encoding: Body['encoding']
  readonly parts: number
}

/** Route in its present form. */
export interface TracedRoute extends Route {
  /** Position in the order in which routes are tried, from 1. Undefined if the route is no longer published. */
  readonly place: number | undefined
}

/**
 * One text to many numbers at one price. The ledger has one entry for the debit of the send, and one entry for each
 * refund that returns the credits of several of its messages.
 */
export interface TracedSend {
  readonly first: MessageId
  readonly messages: number
  readonly debit: Credits
  /** Refunds of the whole send so far, by code. A refund without a code was made by the operator. */
  readonly refunds: readonly TracedRefund[]
  /** Prices that carriers named for its messages, summed by currency, in the order of currencies. */
  readonly carrierPrices: readonly CarrierPriceSum[]
}

export interface TracedRefund {
  /** Undefined: the operator made the refund. */
  readonly code: OutcomeCode | undefined
  /** Number of refunded messages. Undefined if a message cost nothing. */
  readonly messages: number | undefined
  readonly amount: Credits
  readonly first: Instant
  readonly last: Instant
}

/**
 * Location of a message. At every committed moment a message is in exactly one place. `attempt` counts temporary
 * refusals by carriers. `in-doubt`: a database server was lost, and the message may have been submitted before
 * (`Promotions`). `nowhere`: the message is in none of the places, which means a defect or manual changes of the
 * database.
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
  /** True if the message may have been submitted. */
  readonly marked: boolean
  readonly attempt: number
  readonly leaseUntil: Instant
  /** True if the lease has expired by the store's clock, so that the message waits for recovery. */
  readonly overdue: boolean
}

export interface DecidedLocation {
  readonly place: 'decided'
  readonly code: OutcomeCode
  /** Time at which the message reached the state of `code`. */
  readonly at: Instant
  /**
   * Time at which the first outcome was stored. That is the end of the hand-over, or the end of a message that was not
   * handed over.
   */
  readonly stored: Instant
  /** Undefined: the message was handed to no carrier. */
  readonly carrier: CarrierId | undefined
  /** Carrier's id of the message, or of its first part. Undefined if there is none or it is unknown. */
  readonly reference: string | undefined
  /** Parts in order, if the carrier accepted the message in several. */
  readonly parts: readonly TracedPart[]
  readonly refunded: boolean
  /** Price that the carrier named for the whole message. Absent if it named none. */
  readonly carrierPrice?: CarrierPrice
}

/** Part of a message with a carrier id and a state of its own. */
export interface TracedPart {
  readonly reference: string
  readonly code: OutcomeCode
  /** Time of its receipt, if one has arrived. */
  readonly at: Instant | undefined
}

/** Refunds of a send: the refund of this message, and the refunds of the other messages of the send. */
export interface RefundsOfTrace {
  readonly own:
    { readonly at: Instant; readonly code: OutcomeCode | undefined; readonly why: string | undefined } | undefined
  readonly others: readonly TracedRefund[]
}

/**
 * Separates the refund of this message from the refunds of the other messages of its send. The ledger contains only the
 * sums of the refunds by code.
 */
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
    // `first` and `last` cover all refunds of the code. If the refund of this message is the first or the last one, the
    // corresponding time of the others is unknown, so the opposite one is used for it.
    const first = refund.first === own.at ? refund.last : refund.first
    const last = refund.last === own.at ? refund.first : refund.last
    return amount > 0 ? [{ ...refund, amount, messages, first, last }] : []
  })
  return { own, others }
}

/**
 * Incidents that stores record in addition to the state of a message. A store of another version may record others.
 */
export const INCIDENT = {
  /** The carrier refused the message temporarily. */
  refusedForNow: 'refused for now',
  /** The dispatcher died without reporting an outcome, after the message may have been submitted. */
  recovered: 'recovered',
  /** The carrier did not report whether it accepted the message. */
  unknown: 'unknown',
  /** The dispatcher reported the outcome late, after another outcome had been stored. */
  late: 'late',
  /** A receipt that matched no other message was assigned to this message, which got the reference of the receipt. */
  adopted: 'adopted',
  /** The message of unknown outcome was submitted again under its own id, to the same carrier. */
  repeated: 'repeated',
  /** A receipt with our own id of the message gave the message of unknown outcome its carrier's reference. */
  named: 'named by own id',
  /** The message was in doubt after a database server was lost, and its validity ended. */
  endedInDoubt: 'ended in doubt',
  /**
   * It was in doubt after the loss of a database server whether the message had been submitted. Then a dispatcher or a
   * receipt proved that it had been.
   */
  provedSubmitted: 'proved submitted',
  /**
   * This carrier claimed the message because the carriers of a better priority stayed full for longer than the route
   * lets a message wait.
   */
  overflow: 'overflow',
  /** The SMPP client of the customer refused the receipt or the reply for good. */
  deliveryRefused: 'delivery refused',
  /** No SMPP client of the customer acknowledged the receipt or the reply in time. It is no longer offered. */
  deliveryDropped: 'delivery dropped',
} as const

export interface Incident {
  readonly at: Instant
  readonly name: string
  /** Carrier involved. Undefined if there is none or it is unknown. */
  readonly carrier: CarrierId | undefined
}

/** Stored receipt that has not matched a message yet. Receipts that matched are part of the message's state. */
export interface TracedReceipt {
  readonly at: Instant
  readonly carrier: CarrierId
  readonly reference: string
  readonly code: DeliveryReceiptCode
  /**
   * `own`: the receipt has the carrier's id of this message. `same-number`: the receipt belongs to this message or to
   * another message to the same number. `other-number`: the receipt has the carrier's id of this message but another
   * number, so it is never applied.
   */
  readonly fits: 'own' | 'same-number' | 'other-number'
}

/** Maximum number of incidents, and of receipts, in a trace. */
export const traceLinesMax = 100

/** Criteria of a search for messages: a number, a reference, or both. Bounds of time apply to `FoundMessage.due`. */
export type MessageSearch = SearchBounds & WhichMessages

export type WhichMessages =
  | { readonly number: Msisdn; readonly reference?: MessageReference | undefined }
  | { readonly number?: undefined; readonly reference: MessageReference }

export interface SearchBounds {
  /** If omitted, messages of all accounts. */
  readonly account?: AccountId | undefined
  readonly from?: Instant | undefined
  /** Exclusive upper bound of the due time. */
  readonly to?: Instant | undefined
  /** Lists only messages after this one in the order of the list. */
  readonly after?: Pick<FoundMessage, 'due' | 'id'> | undefined
}

/** Message as lists show it. Never contains the text (P-15). */
export interface FoundMessage {
  readonly id: MessageId
  readonly account: AccountId
  /** Undefined: accepted by a version that did not record a sender address. */
  readonly from: SenderAddress | undefined
  /** True for the confirmation of an opt-out, which is free (ruling 1.21). */
  readonly confirmation: boolean
  readonly accepted: Instant
  /** Scheduled time, or the time of acceptance. The age of a message counts from this time (ruling 1.16). */
  readonly due: Instant
  readonly scheduled: boolean
  /** Charged credits. */
  readonly cost: Credits
  readonly number: Msisdn
  /** Reference that the account gave to the message. */
  readonly reference: MessageReference | undefined
  readonly options: SendOptions
  readonly place: FoundLocation
}

/** `MessageLocation`, as far as lists show it. */
export type FoundLocation =
  | Exclude<MessageLocation, ClaimedLocation | DecidedLocation | { readonly place: 'nowhere' | 'queue' | 'in-doubt' }>
  | { readonly place: 'queue' | 'in-doubt'; readonly attempt: number }
  | Pick<ClaimedLocation, 'place' | 'marked' | 'attempt'>
  | Pick<DecidedLocation, 'place' | 'code' | 'at' | 'refunded'>

/** Returns the credits of a traced or found message. A refund returns the whole charge of a message. */
export const tracedCredits = ({ cost, place }: Pick<MessageTrace | FoundMessage, 'cost' | 'place'>): SentCredits =>
  sentCredits(cost, place.place === 'decided' && place.refunded ? cost : credits(0))
