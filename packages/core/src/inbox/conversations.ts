import type { AccountId } from '../accounts/account.ts'
import type { Instant } from '../time/instant.ts'
import type { InboundMessageId, InboxMessage } from './inbox.ts'

/** What one person wrote to an account, be it a reply or to one of its codes. */
export interface Conversation {
  /** The latest message of it. */
  readonly last: InboxMessage
  /** So many messages have not been marked as read. */
  readonly unread: number
}

export interface ConversationsPage {
  /** Only those that have something unread. */
  readonly unreadOnly: boolean
  /** Only those whose latest message is older than this one. */
  readonly before?: InboundMessageId | undefined
  readonly limit: number
}

/** What one person wrote, and how far it was read. */
export interface ReceivedFrom {
  /** So many messages came since the conversation began. */
  readonly arrived: number
  /** So many of these were marked as read. */
  readonly read: number
  /** The latest first. */
  readonly messages: readonly InboxMessage[]
}

/** The inbox by person, with a mark for each how far the account has read. It has nothing to do with return-once. */
export interface Conversations {
  /** Those in which something was received since then, the latest first. */
  list(by: AccountId, since: Instant, page: ConversationsPage): Promise<readonly Conversation[]>
  /**
   * What `from` wrote since then, as of one moment: at most `limit` messages, of those before `before`. Undefined:
   * nothing that is kept.
   */
  find(
    by: AccountId,
    from: string,
    since: Instant,
    page: { readonly before?: InboundMessageId | undefined; readonly limit: number },
  ): Promise<ReceivedFrom | undefined>
  /** Of what `from` wrote the first `arrived` messages are read; what came or was marked meanwhile stays as it is. */
  markRead(by: AccountId, from: string, arrived: number): Promise<void>
  /** How many conversations since then have something unread; counted up to `most`. */
  countUnread(by: AccountId, since: Instant, most: number): Promise<number>
}
