import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Credits } from '../credits/credits.ts'
import type { ClientRequest } from '../client-requests/client-requests.ts'
import type { Instant } from '../time/instant.ts'
import type { Body } from './body.ts'
import type { Msisdn, SenderAddress } from './msisdn.ts'
import type { Refusal } from './refusal.ts'
import type { SendLabels, SendOptions } from './send-options.ts'
import type { OutcomeCode } from './status-code.ts'

/** A positive integer below 2^53, unique over all accounts and interfaces (ruling 1.2). */
export type MessageId = Brand<number, 'MessageId'>

/** The message id that a number stands for; undefined unless it is an integer from 1 to 2^53-1. */
export const messageId = (value: number): MessageId | undefined =>
  Number.isSafeInteger(value) && value > 0 ? (value as MessageId) : undefined

/**
 * The message id written in decimal digits; leading zeros are read over. Undefined for any other text and beyond
 * 2^53-1.
 */
export const parseMessageId = (text: string): MessageId | undefined =>
  /^0*[1-9][0-9]{0,15}$/.test(text) ? messageId(Number(text)) : undefined

/** What an account holder calls a message (ruling 1.28). Several messages may have the same. */
export type MessageReference = Brand<string, 'MessageReference'>

export const referenceCharactersMax = 64

/** No control character, no lone surrogate. */
const usableReference = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${referenceCharactersMax}}$`, 'u')

/**
 * A reference as it was given, trimmed. Undefined: none was given, or a blank one. Unusable: too long, or with control
 * characters.
 */
export function readReference(given: string | null | undefined): MessageReference | undefined | 'unusable' {
  const reference = given?.trim() ?? ''
  if (reference === '') return undefined
  return usableReference.test(reference) ? (reference as MessageReference) : 'unusable'
}

/** Labels of a message: its own reference and the labels of its send. */
export interface MessageLabels extends SendLabels {
  readonly reference?: MessageReference | undefined
}

/** Returns the facts with the labels that are defined. */
export function withLabels<Facts extends object>(facts: Facts, labels: MessageLabels): Facts & MessageLabels {
  const defined = Object.entries(labels).filter(([, label]) => label !== undefined)
  return defined.length === 0 ? facts : { ...facts, ...Object.fromEntries(defined) }
}

/** A piece of a list: `offset` from 0, `limit` from 1. */
export interface Page {
  readonly offset: number
  readonly limit: number
}

export interface Paged<Item> {
  /** How many there are in all. */
  readonly total: number
  readonly items: readonly Item[]
}

/** What is to be charged and sent: recipients that passed the screening, in request order. */
export interface Order {
  readonly account: AccountId
  /** At least one: `chooseSender` picks one of them for each number. */
  readonly senders: readonly SenderAddress[]
  readonly texts: readonly OrderedText[]
}

export interface OrderedText {
  readonly body: Body
  /**
   * When to send; undefined: at once. A time that is not ahead by the store's clock counts as undefined (`isAhead`).
   */
  readonly due: Instant | undefined
  /** The validity counts from the due time, by the store's clock. */
  readonly options?: SendOptions | undefined
  /** At least one. */
  readonly to: readonly OrderedRecipient[]
}

export interface OrderedRecipient {
  readonly number: Msisdn
  readonly cost: Credits
  readonly reference?: MessageReference | undefined
  /** The address that it leaves from; undefined: one of the order. */
  readonly from?: SenderAddress | undefined
}

export interface Acceptance {
  /** One result per recipient, by text, in the order of the order. */
  readonly results: readonly (readonly (MessageId | 'insufficient-credits')[])[]
  /** The balance right after this order and before any later one. */
  readonly balance: Credits
}

/**
 * Answer to a request before its messages have ids: the due time of each text if it is ahead, and of each recipient in
 * request order its cost, or the reason for which it is not in the order.
 */
export type AnswerDraft = readonly {
  readonly due: Instant | undefined
  readonly recipients: readonly (Credits | Refusal)[]
}[]

/** Outcome of a message, with the facts that a report shows of it. */
export interface KnownStatus extends MessageLabels {
  readonly code: OutcomeCode
  /** When that state was reached. */
  readonly at: Instant
  readonly number: Msisdn
  /** Net credits: charged and not returned. */
  readonly cost: Credits
  /** Credits that were charged and returned; undefined: none. */
  readonly returned?: Credits | undefined
  /** A carrier took it, or part of it, or may have: it stays charged (ruling 1.4). */
  readonly taken: boolean
}

/** A message that is queued, scheduled, claimed, or not yet recorded. */
export interface WaitingStatus extends MessageLabels {
  readonly code: 'waiting'
  readonly number: Msisdn
  /** Net credits, which are the charged ones as long as the message waits. */
  readonly cost: Credits
}

/** Not found: unknown, another account's, or too old. */
export type MessageStatus = KnownStatus | WaitingStatus | 'not-found'

/** A message that waits for its time and can still be deleted (rulings 1.15, 2.10). */
export interface ScheduledMessage extends MessageLabels {
  readonly id: MessageId
  readonly number: Msisdn
  readonly submitted: Instant
  readonly due: Instant
  readonly cost: Credits
}

/**
 * What became of a request to delete (ruling 1.15). Not found: unknown, another account's, deleted already, or too old.
 * Sent: any other message of the account, be it claimed, sent, finished, waiting for another try, or never scheduled.
 */
export type Deletion =
  | { readonly outcome: 'deleted'; readonly number: Msisdn; readonly refunded: Credits }
  | { readonly outcome: 'sent'; readonly number: Msisdn }
  | { readonly outcome: 'not-found' }

/** What an account holder does with messages. Two accounts never learn anything of each other's ids (P-10). */
export interface Messages {
  /**
   * Charges and stores, in request order, what the balance allows (ruling 1.11): every recipient is either charged,
   * stored and given an id, or left without a trace. Which address each number is written to from stays the same for
   * the account while its orders name it, and as long as there are enough no other account has it for that number
   * (`chooseSender`). Ids of one order ascend in request order where it goes over one route; of a text over several,
   * those of each route do. Once it has resolved, what it accepted survives a crash (P-1). An account that is locked at
   * this moment accepts nothing. Overloaded: nothing was done, try again later. Throws when the store cannot be
   * reached; what may then have happened was found out, as far as it could be.
   */
  accept(order: Order): Promise<Acceptance | 'account-locked' | 'overloaded'>
  /**
   * The same, but nobody is accepted if an answer is kept under the key of the request (`ClientRequests`): the order is
   * repeated, or it is told why nobody would be. If anybody is accepted, the answer (`writeAnswer`) is kept with the
   * balance, in the same step; if nobody is, nothing is kept.
   */
  acceptOnce(
    order: Order,
    request: ClientRequest,
    draft: AnswerDraft,
  ): Promise<Acceptance | 'account-locked' | 'overloaded' | 'repeated'>
  /**
   * One status per id, in order; the same id may be asked for twice (`statusOf`).
   */
  status(by: AccountId, ids: readonly MessageId[], since: Instant): Promise<readonly MessageStatus[]>
  /** What waits of the account and can still be deleted, by due time, then id. */
  scheduled(by: AccountId, page: Page): Promise<Paged<ScheduledMessage>>
  /**
   * Deletes what no dispatcher has claimed, and refunds exactly what was charged, once (P-8). One result per id, in
   * order; an id that it deletes is not found where it is given again. Either all of it happens or none (`isDeletable`,
   * `undeletedOutcome`).
   */
  deleteScheduled(by: AccountId, ids: readonly MessageId[], since: Instant): Promise<readonly Deletion[]>
}
