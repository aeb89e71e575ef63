import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Credits } from '../credits/credits.ts'
import type { ClientRequest } from '../client-requests/client-requests.ts'
import type { Instant } from '../time/instant.ts'
import type { AnswerDeadline } from './answer-deadline.ts'
import type { Body } from './body.ts'
import type { MessageId } from './message-id.ts'
import type { Msisdn, SenderAddress } from './msisdn.ts'
import type { SendLabels, SendOptions } from './send-options.ts'
import type { OutcomeCode } from './status-code.ts'

/** Reference that an account holder gives to a message (ruling 1.28). Several messages may have the same. */
export type MessageReference = Brand<string, 'MessageReference'>

export const referenceCharactersMax = 64

/** Excludes control characters and lone surrogates. */
const usableReference = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${referenceCharactersMax}}$`, 'u')

/**
 * Parses a reference and trims it. Returns undefined if it is missing or blank, and 'unusable' if it is too long or has
 * control characters.
 */
export function readReference(text: string | null | undefined): MessageReference | undefined | 'unusable' {
  const reference = text?.trim() ?? ''
  if (reference === '') return undefined
  return usableReference.test(reference) ? (reference as MessageReference) : 'unusable'
}

/** Labels of a message: its own reference and the labels of its send. */
export interface MessageLabels extends SendLabels {
  readonly reference?: MessageReference | undefined
}

/** Returns the facts with the labels that are defined; the same object if there are none. */
export function withLabels<Facts extends object>(
  facts: Facts,
  labels: MessageLabels | undefined,
): Facts & MessageLabels {
  if (labels === undefined) return facts
  const defined = Object.entries(labels).filter(([, label]) => label !== undefined)
  return defined.length === 0 ? facts : { ...facts, ...Object.fromEntries(defined) }
}

/** Page of a list: `offset` from 0, `limit` from 1. */
export interface Page {
  readonly offset: number
  readonly limit: number
}

export interface Paged<Item> {
  /** Number of items on all pages. */
  readonly total: number
  readonly items: readonly Item[]
}

/** Reason why a recipient gets no message, in order of precedence (ruling 1.10). */
export type Refusal =
  | 'account-locked'
  | 'no-message'
  | 'too-long'
  | 'no-number'
  | 'invalid-number'
  | 'blacklisted'
  | 'trial-to-self'
  | 'opted-out'
  | 'do-not-contact'
  | 'insufficient-credits'

/** Send to charge and store: the recipients that passed the screening, in request order. */
export interface Order {
  readonly account: AccountId
  /** At least one address. `chooseSender` picks one for each number. */
  readonly senders: readonly SenderAddress[]
  readonly texts: readonly OrderedText[]
  /** True if the ids of the accepted recipients must be consecutive in request order (ruling 5.3). */
  readonly isConsecutive?: boolean | undefined
}

export interface OrderedText {
  readonly body: Body
  /**
   * Time at which the text is to be sent. If undefined, it is sent at once. A time that is not in the future by the
   * store's clock is treated as undefined (`isAhead`).
   */
  readonly due: Instant | undefined
  /** Options. The validity counts from the due time, by the store's clock. */
  readonly options?: SendOptions | undefined
  /** Recipients of the text, at least one. */
  readonly to: readonly OrderedRecipient[]
}

export interface OrderedRecipient {
  readonly number: Msisdn
  readonly cost: Credits
  readonly reference?: MessageReference | undefined
  /** Sender address; undefined: one of `Order.senders`. */
  readonly from?: SenderAddress | undefined
}

export interface Acceptance {
  /** Results of the texts in the order of `Order.texts`, with one result for each recipient. */
  readonly results: readonly (readonly (MessageId | 'insufficient-credits')[])[]
  /** Balance immediately after this order, before any later order is charged. */
  readonly balance: Credits
}

/**
 * Answer to a request before its messages have ids. Contains the due time of each text (undefined if the text is sent
 * at once) and, for each recipient in request order, the cost or the reason why the recipient is refused.
 */
export type AnswerDraft = readonly {
  readonly due: Instant | undefined
  readonly recipients: readonly (Credits | Refusal)[]
}[]

/** Outcome of a message, with the facts that a report shows with it. */
export interface KnownStatus extends MessageLabels {
  readonly code: OutcomeCode
  /** Time at which the message reached this outcome. */
  readonly at: Instant
  readonly number: Msisdn
  /** Net credits: charged minus returned. */
  readonly cost: Credits
  /** Credits that were charged and returned, if any. */
  readonly returned?: Credits | undefined
  /**
   * True if a carrier accepted, or may have accepted, the message or a part of it, so that the message stays charged
   * (ruling 1.4).
   */
  readonly staysCharged: boolean
}

/** Status of a message that is queued, scheduled, claimed, or not yet recorded. */
export interface WaitingStatus extends MessageLabels {
  readonly code: 'waiting'
  readonly number: Msisdn
  /** Net credits. Nothing is returned while the message waits. */
  readonly cost: Credits
}

/** `not-found`: the id is unknown, belongs to another account, or the message is too old. */
export type MessageStatus = KnownStatus | WaitingStatus | 'not-found'

/** Message that waits for its scheduled time and can still be deleted (rulings 1.15, 2.10). */
export interface ScheduledMessage extends MessageLabels {
  readonly id: MessageId
  readonly number: Msisdn
  readonly submitted: Instant
  readonly due: Instant
  readonly cost: Credits
}

/**
 * Result of a request to delete (ruling 1.15). `not-found`: the id is unknown, belongs to another account, was deleted
 * before, or is too old. `sent`: the message belongs to the account but cannot be deleted, because it was never
 * scheduled, waits for another try, or is claimed, sent or finished.
 */
export type Deletion =
  | { readonly outcome: 'deleted'; readonly number: Msisdn; readonly refunded: Credits }
  | { readonly outcome: 'sent'; readonly number: Msisdn }
  | { readonly outcome: 'not-found' }

/**
 * Messages of account holders. No account learns anything about ids of another (P-10). The id of a part that a customer
 * submitted over SMPP stands for the message of its text. Until the text is whole, the part waits at no cost; if its
 * text was refused or expired, the part has that outcome at no cost (rulings 5.1, 5.2).
 */
export interface Messages {
  /**
   * Charges and stores, in request order, as many recipients as the balance covers (ruling 1.11). Each recipient is
   * either charged, stored and given an id, or leaves no trace. The account keeps the same sender address for a number
   * as long as its orders contain that address. No other account uses that address for that number while there are
   * enough addresses (`chooseSender`). The ids of an order ascend in request order within each route. After the promise
   * has resolved, the accepted messages survive a crash (P-1). If the account is locked at this moment, nothing is
   * accepted. `overloaded`: nothing was done; try again later. If the store cannot be reached, finds out as far as
   * possible whether the order was stored, and then throws.
   *
   * With a deadline, an acceptance is returned only if the deadline is met. After it was missed, the result is
   * 'overloaded', and nothing of the order is ever claimed or stays charged. A store that learns late that it stored
   * the order revokes it.
   */
  accept(order: Order, deadline?: AnswerDeadline): Promise<Acceptance | 'account-locked' | 'overloaded'>
  /**
   * Accepts an order unless an answer is already stored under the key of the request (`ClientRequests`). If one is
   * stored, the result is 'repeated', or the reason why nothing would be accepted. If at least one recipient is
   * accepted, the text that `writeAnswer` returns is stored with the balance in the same transaction. Otherwise no
   * answer is stored.
   */
  acceptOnce(
    order: Order,
    request: ClientRequest,
    draft: AnswerDraft,
    deadline?: AnswerDeadline,
  ): Promise<Acceptance | 'account-locked' | 'overloaded' | 'repeated'>
  /** Returns one status per id, in order (`statusOf`). An id may occur twice. */
  status(by: AccountId, ids: readonly MessageId[], since: Instant): Promise<readonly MessageStatus[]>
  /** Lists messages of the account that wait and can still be deleted, by due time, then id. */
  scheduled(by: AccountId, page: Page): Promise<Paged<ScheduledMessage>>
  /**
   * Deletes messages that no dispatcher has claimed and refunds exactly the charge, once (P-8). Returns one result per
   * id, in order. If an id occurs twice, its second result is 'not-found'. Deletes all messages that can be deleted, or
   * none if the call fails (`isDeletable`, `undeletedOutcome`).
   */
  deleteScheduled(by: AccountId, ids: readonly MessageId[], since: Instant): Promise<readonly Deletion[]>
}
