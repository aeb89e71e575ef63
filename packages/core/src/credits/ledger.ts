import type { AccountId } from '../accounts/account.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { ClientRequest } from '../client-requests/client-requests.ts'
import type { Instant } from '../time/instant.ts'
import type { Credits } from './credits.ts'
import type { Movement } from './movement.ts'
import type { StatementPage, StatementPlace } from './statement-page.ts'

/** Period that starts at `from` and ends before `to`. A missing bound is open. */
export interface Period {
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
}

export interface LedgerDifference {
  readonly account: AccountId
  readonly balance: Credits
  /** Sum of the entries of the account. */
  readonly entries: Credits
}

export interface LedgerCheck {
  readonly accounts: number
  /** Sum of all balances. */
  readonly balances: Credits
  /** Accounts whose balance differs from the sum of their entries, by id. Empty at every committed moment (P-2). */
  readonly differences: readonly LedgerDifference[]
}

export interface Transfer {
  readonly from: AccountId
  /** Receiving account, which is not `from`. */
  readonly to: AccountId
  /** Amount to move, above 0.0. */
  readonly amount: Credits
}

/**
 * Reason why no credits moved. `failed` means that the store was in trouble or the receiver's balance would be too
 * high; it is certain that no credits moved.
 */
export type TransferFailure = 'from-account-locked' | 'to-account-locked' | 'insufficient-credits' | 'failed'

/** Request of the operator to refund one message. */
export interface RefundByHand {
  readonly message: MessageId
  readonly why: string
}

export interface Refunded {
  /** Account that was charged and received the refund. */
  readonly account: AccountId
  /** Amount that was charged and is refunded. */
  readonly amount: Credits
  readonly balance: Credits
}

/**
 * Reason why a charge is not refunded: the message is unknown; it still waits and may be refunded automatically; it was
 * already refunded, by hand or because no carrier accepted it; or it cost nothing.
 */
export type RefundRefusal = 'no-such-message' | 'waiting' | 'refunded-already' | 'nothing-charged'

/** Maximum balance in tenths. */
export const balanceMax = Number.MAX_SAFE_INTEGER

/** Movements of credits. The balance of an account is the sum of its entries and is never negative. */
export interface Ledger {
  /** Reads the balance from the store. Returns undefined if the account does not exist. */
  balance(id: AccountId): Promise<Credits | undefined>
  /**
   * Adds `amount`, which may be negative (a correction), and returns the new balance. Refuses without an effect if the
   * new balance would be out of range (`balanceAfter`). With an `operation` (a UUID) the top-up is made only once: a
   * repetition returns 'repeated' and has no effect.
   */
  topUp(
    id: AccountId,
    amount: Credits,
    why: string,
    now: Instant,
    operation?: string,
  ): Promise<Credits | 'no-such-account' | 'out-of-range' | 'repeated'>
  /**
   * Lists the movements within the period, of one account or of all accounts one after the other by id. The movements
   * of an account are listed by time, in non-empty pages. The list does not contain movements that begin after the
   * call, however slowly it is read; a movement that was being stored at the time of the call may be missing. Each
   * movement starts from the balance after the previous movement. Nothing is locked between two pages (P-13). Sends
   * that cost nothing are not listed. Sums of dropped sends are dated `historyDays` before they were entered, because
   * all of these sends were accepted before then. Throws if history of the period is dropped while the list is read.
   * Lists nothing for an unknown account.
   */
  movements(of: AccountId | 'all', period: Period, historyDays: number): AsyncIterable<readonly Movement[]>
  /**
   * Lists the movements of one account as a statement for people. All debits of a bulk send form one line, however many
   * texts the send has; its refunds with the same code also form one line. A line has the time of its first movement.
   * The balance of each line is the balance of the previous line plus the amount.
   */
  statement(of: AccountId, period: Period, historyDays: number): AsyncIterable<readonly Movement[]>
  /**
   * Returns some lines of the same statement and the sums of the whole period, all read at one moment. For an account
   * that does not exist every figure is 0.
   */
  statementPage(of: AccountId, period: Period, historyDays: number, place: StatementPlace): Promise<StatementPage>
  /**
   * Refunds the charge of a message that a carrier accepted, or may have accepted, to the account that was charged. A
   * message is refunded at most once, over all callers and repetitions; later outcomes of the message refund nothing
   * more. Throws if it is unknown whether the refund was made.
   */
  refund(request: RefundByHand, now: Instant): Promise<Refunded | RefundRefusal>
  /** Recomputes every balance from the entries, in one snapshot. */
  check(): Promise<LedgerCheck>
  /**
   * Moves credits, or returns why it did not (`transferFailure`). Concurrent transfers between the same accounts, in
   * either direction, happen one after the other. Throws if it is unknown whether the credits moved.
   */
  transfer(transfer: Transfer, now: Instant): Promise<'done' | TransferFailure>
  /**
   * Transfers credits unless an answer is stored under the key of the request (`ClientRequests`): then it returns
   * 'repeated' and moves nothing. A result other than 'failed' is stored as the answer in the same transaction. Throws
   * if the store is in trouble, because an earlier attempt of the request may have moved credits.
   */
  transferOnce(transfer: Transfer, now: Instant, request: ClientRequest): Promise<'done' | TransferFailure | 'repeated'>
}
