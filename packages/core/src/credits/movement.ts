import type { AccountId } from '../accounts/account.ts'
import type { BulkSendId } from '../bulk-sends/bulk-sends.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { MessageLabels } from '../messages/messages.ts'
import type { OutcomeCode } from '../messages/status-code.ts'
import type { Instant } from '../time/instant.ts'
import type { Credits } from './credits.ts'

/**
 * Movement of credits of one account. In order of time, each movement of an account starts from the balance after the
 * one before; the first starts from 0.0, and the last ends at the present balance.
 */
export interface Movement {
  readonly account: AccountId
  readonly at: Instant
  /** Negative if credits were taken from the account. */
  readonly amount: Credits
  /** Balance after the movement. */
  readonly balance: Credits
  readonly cause: Cause
}

export type Cause =
  /** Credits that the operator granted or took back. */
  | { readonly kind: 'top-up'; readonly why: string }
  /** Transfer to another account if the amount is negative, else from it. */
  | { readonly kind: 'transfer'; readonly account: AccountId | undefined }
  /**
   * Debit of one text to many numbers. Its messages have the ids `first` to `first` + `messages` - 1. Contains only the
   * labels that all of these messages share.
   */
  | (MessageLabels & {
      readonly kind: 'send'
      readonly first: MessageId
      readonly messages: number
      /** Bulk send whose entire cost this debit covers. Set only in a statement. */
      readonly bulk?: BulkSendId | undefined
    })
  /** Refund of messages that no carrier accepted, of the send that begins with `first` (ruling 1.4). */
  | {
      readonly kind: 'refund'
      readonly first: MessageId | undefined
      readonly code: OutcomeCode | undefined
      /** Bulk send to which the refunded messages belong. Set only in a statement. */
      readonly bulk?: BulkSendId | undefined
    }
  /** Refund of one message by the operator. */
  | { readonly kind: 'refund-by-hand'; readonly message: MessageId; readonly why: string }
  /** Sum of the debits of sends whose history was dropped. Its time is the latest possible time of acceptance. */
  | { readonly kind: 'dropped-sends' }
