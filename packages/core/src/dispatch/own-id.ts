import type { MessageId } from '../messages/message-id.ts'
import type { Instant } from '../time/instant.ts'

/**
 * Our own id of a message, which carriers return in receipts and by which they recognize a repetition. It is the same
 * in every process and after a restart.
 */
export interface OwnId {
  readonly message: MessageId
  /**
   * Derived from the time at which the message was first due, in milliseconds (`ownIdTag`). Distinguishes the messages
   * of two gateways that use one account at a provider, because both count their messages from 1.
   */
  readonly tag: number
}

/** Number of tags. A tag fits into 30 bits. */
export const ownIdTags = 2 ** 30

/** Returns the tag of a message that was first due at this time. */
export const ownIdTag = (due: Instant): number => ((due % ownIdTags) + ownIdTags) % ownIdTags
