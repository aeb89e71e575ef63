import type { AccountId } from '../accounts/account.ts'
import type { BulkSendId } from '../bulk-sends/bulk-sends.ts'
import type { MessageId, MessageReference } from '../messages/messages.ts'
import type { OutcomeCode } from '../messages/status-code.ts'
import type { ClientRequest } from '../client-requests/client-requests.ts'
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
  /**
   * The debit of one text to many numbers: messages `first` to `first` + `messages` - 1. The reference: that all of
   * them have.
   */
  | {
      readonly kind: 'send'
      readonly first: MessageId
      readonly messages: number
      readonly reference?: MessageReference | undefined
      /** Only in a statement: the send in bulk of which this is the whole debit. */
      readonly bulk?: BulkSendId | undefined
    }
  /** Of messages of the send that begins with `first`, which no carrier accepted (ruling 1.4). */
  | {
      readonly kind: 'refund'
      readonly first: MessageId | undefined
      readonly code: OutcomeCode | undefined
      /** Only in a statement: the send in bulk whose messages these are. */
      readonly bulk?: BulkSendId | undefined
    }
  /** Of one message, by the operator. */
  | { readonly kind: 'refund-by-hand'; readonly message: MessageId; readonly why: string }
  /**
   * The sum of the debits of sends whose history was dropped. Its time is the last at which one of them can have been
   * accepted.
   */
  | { readonly kind: 'dropped-sends' }

/** From `from`, before `to`; what is left out is no bound. */
export interface Period {
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
}

export interface LedgerDifference {
  readonly account: AccountId
  readonly balance: Credits
  /** What the entries of the account add up to. */
  readonly entries: Credits
}

export interface LedgerCheck {
  readonly accounts: number
  /** Sum of all balances. */
  readonly balances: Credits
  /** Accounts whose balance is not the sum of their entries, by id. Must be empty at every committed moment (P-2). */
  readonly differences: readonly LedgerDifference[]
}

export interface Transfer {
  readonly from: AccountId
  /** Not `from`. */
  readonly to: AccountId
  /** More than nothing. */
  readonly amount: Credits
}

/** Failed: it is certain that nothing moved, be the store in trouble or the receiver's balance too high. */
export type TransferFailure = 'from-account-locked' | 'to-account-locked' | 'insufficient-credits' | 'failed'

/** A message whose charge is given back by hand. */
export interface RefundByHand {
  readonly message: MessageId
  readonly why: string
}

export interface Refunded {
  /** Who was charged, and has it again. */
  readonly account: AccountId
  /** What was charged. */
  readonly amount: Credits
  readonly balance: Credits
}

/**
 * Why a charge is not given back: the message waits, and may still be refunded by itself; it was refunded, by hand or
 * because no carrier took it; it cost nothing.
 */
export type RefundRefusal = 'no-such-message' | 'waiting' | 'refunded-already' | 'nothing-charged'

/** In tenths: what a Credits can hold. */
export const balanceMax = Number.MAX_SAFE_INTEGER

/** The movements of credits. Balance = sum of an account's entries, never negative. */
export interface Ledger {
  /** Read afresh. Undefined: no such account. */
  balance(id: AccountId): Promise<Credits | undefined>
  /**
   * Adds `amount`, which may be negative (a correction), and returns the new balance. Refused, with nothing done, where
   * `balanceAfter` gives none. With an `operation`, a UUID, it is done once ever: 'repeated', with nothing done, where
   * one with the same was done.
   */
  topUp(
    id: AccountId,
    amount: Credits,
    why: string,
    now: Instant,
    operation?: string,
  ): Promise<Credits | 'no-such-account' | 'out-of-range' | 'repeated'>
  /**
   * Lists the movements of an account, or of all accounts one after the other by id, within the period, by time, in
   * pieces of which none is empty. Movements that begin after the list does are not in it, however slowly it is read;
   * one that was being stored at that moment may be missing. Each movement begins with the balance that the one before
   * left. Nothing is held between two pieces (P-13). Sends that cost nothing are not listed. Sums of dropped sends
   * count as of `historyDays` before they were entered: all of these sends were accepted before then. Throws where
   * history that belongs to the period is dropped meanwhile. Lists nothing for an account that is not there.
   */
  movements(of: AccountId | 'all', period: Period, historyDays: number): AsyncIterable<readonly Movement[]>
  /**
   * Returns the same of one account as a statement for people: the debits of a send in bulk are one line, however many
   * texts it has, and so are its refunds with one code. A line stands at the time of its first movement, and each
   * balance is that of the line before plus the amount.
   */
  statement(of: AccountId, period: Period, historyDays: number): AsyncIterable<readonly Movement[]>
  /**
   * Gives back what was charged for a message that a carrier took, or may have, to the account that was charged: once
   * ever, whoever asks and however often. What becomes of the message later refunds nothing more. Throws where it
   * cannot be found out whether it was done.
   */
  refund(wanted: RefundByHand, now: Instant): Promise<Refunded | RefundRefusal>
  /** Recomputes every balance from the entries, all as of one moment. */
  check(): Promise<LedgerCheck>
  /**
   * Moves credits, or does nothing and says why (`transferFailure`). Two transfers between the same accounts, in any
   * direction and at the same time, both happen as if one came after the other. Throws where it cannot be found out
   * whether the credits moved.
   */
  transfer(transfer: Transfer, now: Instant): Promise<'done' | TransferFailure>
  /**
   * The same, unless an answer is kept under the key of the request (`ClientRequests`): then it is repeated, and
   * nothing moved. What it returns is kept in the same step as the answer, be it done or refused; but not that it
   * failed. Throws where the store is in trouble: nobody knows then whether the request moved credits before.
   */
  transferOnce(transfer: Transfer, now: Instant, request: ClientRequest): Promise<'done' | TransferFailure | 'repeated'>
}
