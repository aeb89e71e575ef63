import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { Body } from '../messages/body.ts'
import type { MessageId, Page, Paged } from '../messages/messages.ts'
import type { SenderAddress } from '../messages/msisdn.ts'
import type { Instant } from '../time/instant.ts'
import type { InboundMessage } from './inbound-message.ts'

/** Names a stored inbound message; a positive integer below 2^53, of one sequence for all accounts. */
export type InboundMessageId = Brand<number, 'InboundMessageId'>

/** An inbound message that belongs to an account. */
export interface InboxMessage {
  readonly id: InboundMessageId
  /** The number of the person who wrote, without `+`. */
  readonly from: string
  /** When we received it. */
  readonly at: Instant
  readonly text: string
  /** The message that it answers, as it was found when it arrived; undefined: none (ruling 1.18). */
  readonly answers: MessageId | undefined
  /** The account's code that it was sent to; undefined: it is no short code message. */
  readonly shortCode: SenderAddress | undefined
}

/** Which inbound messages of an account: all of them, those to one of its codes, or all but these (ruling 1.19). */
export type InboxPart = 'all' | 'short-code' | 'replies'

/** For so many days what a call took can be offered again; then it counts as returned. */
export const offerAgainDays = 1

/** One call that took messages out of what the return-once calls offer. */
export type Taking = Brand<string, 'Taking'>

export interface Taken {
  readonly taking: Taking
  readonly messages: readonly InboxMessage[]
}

/** An inbound message that belongs to nobody. */
export interface UnownedMessage {
  readonly id: InboundMessageId
  readonly carrier: CarrierId
  readonly from: string
  readonly to: string | undefined
  readonly at: Instant
  readonly text: string
}

/** Repeated: the same one was stored before. Incomplete: a part that waits for the others of its text. */
export type Received = 'stored' | 'repeated' | 'incomplete'

/** What people wrote, and all that follows from it. */
export interface Inbox {
  /**
   * Stores messages, in their order, each with everything that follows from it, or none of it; once it has resolved,
   * that survives a crash. After a lost answer it finds out, so that nothing is stored twice. One result per message.
   *
   * The same message again within 24 hours (`deduplicationKeyOf`) changes nothing. A part waits until all of its text
   * are there, in any order; they are then one message (`joinParts`). What is stored is what `readInboundMessage` makes
   * of it, at this moment by the store's clock.
   *
   * It belongs to the account that has the code it was sent to; else to the account whose message to this number, from
   * that address, is the most recent, or from any address if that is none that messages leave from (ruling 1.18). A
   * message counts from when a carrier took it or may have taken it; confirmations do not count. Dropped history counts
   * for as long as it is remembered. It answers that most recent message of the account; a message to a code answers
   * the account's most recent one to this number from any address.
   *
   * If it belongs to an account and its number can be written to: a keyword that opts out adds the number to the
   * account's opt-outs; if it was not there, `confirmation` is queued to it, from the address it was sent to if that is
   * one of ours, else from that of the message that it answers; with an id of its own, at no price, and not stopped by
   * this opt-out. It is not queued if the account is locked or the number is blacklisted. A keyword that opts in
   * removes the opt-out (rulings 1.21, 1.22).
   */
  receive(messages: readonly InboundMessage[], confirmation: Body): Promise<readonly Received[]>
  /** What a carrier hands over under these names (`offer`) from now on is another message. */
  endOffers(carrier: CarrierId, offers: readonly string[]): Promise<void>
  /**
   * Texts of which parts are missing, and the last came more than `seconds` ago, are stored as they are, as `receive`
   * does; at most
   * `textsMax` of them. Returns how many.
   */
  releaseParts(seconds: number, textsMax: number, confirmation: Body): Promise<number>
  /** What was received since then, oldest first. Neither consumes anything nor is consumed (ruling 1.20). */
  list(by: AccountId, part: InboxPart, since: Instant, page: Page): Promise<Paged<InboxMessage>>
  /**
   * What was received since then and has not been taken, oldest first, at most `messagesMax`; from this moment on it is
   * taken, in whatever call and process, and of callers at the same time each gets other messages. After a lost answer
   * nothing is taken.
   */
  take(by: AccountId, part: InboxPart, since: Instant, messagesMax: number): Promise<Taken>
  /** What this call took is offered again, within `offerAgainDays`. May be repeated. */
  offerAgain(by: AccountId, taking: Taking): Promise<void>
  /** What belongs to nobody, oldest first, read in pieces. */
  unowned(): AsyncIterable<UnownedMessage>
}
