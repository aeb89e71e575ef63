import type { AccountId } from '../accounts/account.ts'
import type { Instant } from '../time/instant.ts'
import type { InboundMessageId, InboxMessage } from './inbox.ts'

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

/** Inbox by person, with a read mark for each. Independent of the return-once calls. */
export interface Conversations {
  /** Lists conversations with a message since `since`, latest first. */
  list(by: AccountId, since: Instant, page: ConversationsPage): Promise<readonly Conversation[]>
  /**
   * Returns, in one snapshot, at most `limit` messages of `from` since `since` and before the message `before`. Returns
   * undefined if no message of `from` is stored.
   */
  find(
    by: AccountId,
    from: string,
    since: Instant,
    page: { readonly before?: InboundMessageId | undefined; readonly limit: number },
  ): Promise<ReceivedFrom | undefined>
  /** Marks the first `arrived` messages of `from` as read. Later messages and a higher mark do not change. */
  markRead(by: AccountId, from: string, arrived: number): Promise<void>
  /** Counts conversations since `since` with unread messages, up to `most`. */
  countUnread(by: AccountId, since: Instant, most: number): Promise<number>
}
