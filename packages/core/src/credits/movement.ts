import type { AccountId } from '../account/account.ts'
import type { MessageId } from '../message/message-id.ts'
import type { OutcomeCode } from '../message/status-code.ts'
import type { Instant } from '../time/instant.ts'
import type { Credits } from './credits.ts'

/**
 * A movement of credits of one account. Those of an account, in order of time, each begin with the balance that the one
 * before left; the first begins with 0.0, the last leaves the balance.
 */
export interface Movement {
  readonly account: AccountId
  readonly at: Instant
  /** Negative: it took credits. */
  readonly amount: Credits
  /** After it. */
  readonly balance: Credits
  readonly cause: Cause
}

export type Cause =
  /** Granted, or taken back, by the operator. */
  | { readonly kind: 'top-up'; readonly why: string }
  /** To or from another account, by the sign of the amount. */
  | { readonly kind: 'transfer'; readonly account: AccountId | undefined }
  /** The debit of one text to many numbers: messages `first` to `first` + `messages` - 1. */
  | { readonly kind: 'send'; readonly first: MessageId; readonly messages: number }
  /** Of messages of the send that begins with `first`, which no carrier accepted (ruling 1.4). */
  | { readonly kind: 'refund'; readonly first: MessageId | undefined; readonly code: OutcomeCode | undefined }
  /** Of one message, by the operator. */
  | { readonly kind: 'refund-by-hand'; readonly message: MessageId; readonly why: string }
  /** The sum of the debits of sends whose history was dropped. Its time is the last at which one of them can have been accepted. */
  | { readonly kind: 'dropped-sends' }

/** From `from`, before `to`; what is left out is no bound. */
export interface Period {
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
}
