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
