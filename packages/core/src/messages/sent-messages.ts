import type { AccountId } from '../accounts/account.ts'
import type { Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import type { FoundMessage, MessageSearch, MessageTrace } from './message-trace.ts'
import type { MessageId } from './message-id.ts'
import type { MessageReference } from './messages.ts'
import type { Msisdn, SenderAddress } from './msisdn.ts'
import type { SendOptions } from './send-options.ts'

/** Message in a list of its account holder. Its outcome is the answer to a status query. */
export interface SentMessage {
  readonly id: MessageId
  readonly number: Msisdn
  readonly text: string
  readonly parts: number
  /** Time of acceptance and charge. */
  readonly accepted: Instant
  /** Requested time of sending. Undefined if no time was requested or the requested time was past. */
  readonly scheduled: Instant | undefined
  readonly options: SendOptions
  /** Charged credits. */
  readonly cost: Credits
  readonly reference: MessageReference | undefined
  /** Undefined: accepted by a version that did not record a sender address. */
  readonly from: SenderAddress | undefined
}

export interface SentPage {
  /** Lists only messages after this one; empty if the account has no such message. */
  readonly after?: MessageId | undefined
  /** Inclusive lower bound of the time of acceptance. */
  readonly since: Instant
  /** Exclusive upper bound of the time of acceptance. */
  readonly until?: Instant | undefined
  readonly limit: number
}

/** Text to many people, accepted in one call or several. */
export interface LastSend {
  /** Time of acceptance of the first call. */
  readonly accepted: Instant
  readonly messages: number
  /** Number of recipients who opted out in answer to one of its messages and have not opted in again. */
  readonly optedOut: number
}

/** Minutes within which calls with one text count as one send. */
export const sameSendMinutes = 15

/**
 * Accepted messages and their histories. The calls with an account are for its holder: they omit confirmations of
 * opt-outs.
 */
export interface SentMessages {
  /** Lists messages, latest accepted first, then highest id. */
  list(by: AccountId, page: SentPage): Promise<readonly SentMessage[]>
  /** Returns undefined for an id that is unknown or belongs to another account (P-10). */
  find(by: AccountId, id: MessageId): Promise<SentMessage | undefined>
  /**
   * Returns the latest send since `since` whose last call went to at least `numbersMin` numbers. Calls with the same
   * text in the `sameSendMinutes` before that call are part of the send.
   */
  lastSend(by: AccountId, since: Instant, numbersMin: number): Promise<LastSend | undefined>
  /**
   * Returns the trace of a message in one snapshot. Returns undefined if no message has this id or its history was
   * dropped.
   */
  trace(id: MessageId): Promise<MessageTrace | undefined>
  /**
   * Returns the first `limit` messages that match the search, in one snapshot, latest due first, then highest id. Omits
   * messages with an outcome that were due before `decidedSince`.
   */
  search(search: MessageSearch, decidedSince: Instant, limit: number): Promise<readonly FoundMessage[]>
}
