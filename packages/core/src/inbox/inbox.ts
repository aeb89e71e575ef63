import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { Body } from '../messages/body.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Page, Paged } from '../messages/messages.ts'
import type { SenderAddress } from '../messages/msisdn.ts'
import type { Instant } from '../time/instant.ts'
import type { InboundMessage } from './inbound-message.ts'

/** Id of a stored inbound message: a positive integer below 2^53, from one sequence for all accounts. */
export type InboundMessageId = Brand<number, 'InboundMessageId'>

/** An inbound message that belongs to an account. */
export interface InboxMessage {
  readonly id: InboundMessageId
  /** Number of the person, without `+`. */
  readonly from: string
  /** Time at which the gateway received the message. */
  readonly at: Instant
  readonly text: string
  /** Sent message that this one answers, determined on arrival. Undefined if it answers none (ruling 1.18). */
  readonly answers: MessageId | undefined
  /** Code of the account to which it was sent. Undefined if it is not a short code message. */
  readonly shortCode: SenderAddress | undefined
}

/** Part of an account's inbound messages: all, those to its codes, or all others (ruling 1.19). */
export type InboxPart = 'all' | 'short-code' | 'replies'

/** Days within which consumed messages can be offered again. After that they count as returned. */
export const offerAgainDays = 1

/** Id of one return-once call that consumed messages. */
export type Taking = Brand<string, 'Taking'>

export interface ConsumedBatch {
  readonly taking: Taking
  readonly messages: readonly InboxMessage[]
}

/** Inbound message that belongs to no account. */
export interface UnownedMessage {
  readonly id: InboundMessageId
  readonly carrier: CarrierId
  readonly from: string
  readonly to: string | undefined
  readonly at: Instant
  readonly text: string
}

/** Messages of one person to an account: replies and messages to its codes. */
export interface Conversation {
  /** Latest message of the person. */
  readonly last: InboxMessage
  /** Number of messages not marked as read. */
  readonly unread: number
}

export interface ConversationsPage {
  /** If true, lists only conversations with unread messages. */
  readonly unreadOnly: boolean
  /** If set, lists only conversations whose latest message is older than this one. */
  readonly before?: InboundMessageId | undefined
  readonly limit: number
}

/** Messages of one person, with the number of read ones. */
export interface ReceivedFrom {
  /** Number of messages since the conversation began. */
  readonly arrived: number
  /** Number of these that were marked as read. */
  readonly read: number
  /** Messages, latest first. */
  readonly messages: readonly InboxMessage[]
}

/** Result of storing a message. `repeated`: it was stored before. `incomplete`: a part that waits for other parts. */
export type Received = 'stored' | 'repeated' | 'incomplete'

/** Inbound messages and their effects, and conversations, each with the messages of one person and a read mark. */
export interface Inbox {
  /**
   * Stores messages in order, each atomically with its effects, and returns one result for each. After the promise has
   * resolved, they survive a crash. If the answer of the database is lost, the store finds out what was stored, so that
   * no message is stored twice.
   *
   * A repetition within 24 hours (`deduplicationKeyOf`) has no effect. A part waits until all parts of its text have
   * arrived in any order; they become one message (`joinParts`). The content is stored as `readInboundMessage` returns
   * it. The stored time comes from the clock of the database.
   *
   * A message to a code belongs to the account of that code. To find the account of any other message, the store looks
   * for the most recent message that was sent to this person from the address replied to. If the gateway does not send
   * from that address, it looks for the most recent one from any address (ruling 1.18). The inbound message belongs to
   * the account that sent that message, and answers it. A message to a code answers the account's most recent message
   * to this person from any address. A sent message counts from the moment a carrier accepted it or may have accepted
   * it. Confirmations do not count. Messages of dropped history count while they are remembered.
   *
   * If the message belongs to an account and its sender is a valid number, a keyword that opts out adds the number to
   * the account's opt-outs. If the opt-out is new, `confirmation` is queued under an id of its own. The confirmation is
   * free of charge and exempt from this opt-out. It is sent from the address replied to, or else from the address of
   * the answered message. It is not queued if the account is locked or the number is blacklisted. A keyword that opts
   * in removes the opt-out (rulings 1.21, 1.22).
   */
  receive(messages: readonly InboundMessage[], confirmation: Body): Promise<readonly Received[]>
  /** Forgets these names of hand-overs (`offer`): a later message with one of them is a new message. */
  endOffers(carrier: CarrierId, offers: readonly string[]): Promise<void>
  /**
   * Stores incomplete texts whose last part arrived more than `seconds` ago. They are stored without the missing parts,
   * and otherwise as by `receive`. Stores at most `textsMax` texts and returns their number.
   */
  releaseParts(seconds: number, textsMax: number, confirmation: Body): Promise<number>
  /** Lists messages received since `since`, oldest first. Independent of the return-once calls (ruling 1.20). */
  list(by: AccountId, part: InboxPart, since: Instant, page: Page): Promise<Paged<InboxMessage>>
  /**
   * Consumes at most `messagesMax` messages received since `since` that were not consumed before, oldest first.
   * Concurrent callers in any process get different messages. If the answer of the database is lost, no message is
   * consumed.
   */
  take(by: AccountId, part: InboxPart, since: Instant, messagesMax: number): Promise<ConsumedBatch>
  /** Offers the messages of one `take` call again, within `offerAgainDays`. May be repeated. */
  offerAgain(by: AccountId, taking: Taking): Promise<void>
  /** Lists messages that belong to no account, oldest first. The store reads them in pages. */
  unowned(): AsyncIterable<UnownedMessage>
  /** Lists conversations with a message since `since`, latest first. Independent of the return-once calls. */
  listConversations(by: AccountId, since: Instant, page: ConversationsPage): Promise<readonly Conversation[]>
  /**
   * Returns, in one snapshot, at most `limit` messages of `from` since `since` and before the message `before`. Returns
   * undefined if no message of `from` is stored.
   */
  findConversation(
    by: AccountId,
    from: string,
    since: Instant,
    page: { readonly before?: InboundMessageId | undefined; readonly limit: number },
  ): Promise<ReceivedFrom | undefined>
  /** Marks the first `arrived` messages of `from` as read. Later messages and a higher mark do not change. */
  markRead(by: AccountId, from: string, arrived: number): Promise<void>
  /** Counts conversations since `since` with unread messages, up to `most`. */
  countUnreadConversations(by: AccountId, since: Instant, most: number): Promise<number>
}
