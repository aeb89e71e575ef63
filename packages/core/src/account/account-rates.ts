import type { AccountId } from './account.ts'

/** What an account does in a second, on average over some seconds. */
export interface AccountRate {
  readonly account: AccountId
  /** Requests with right credentials, whatever they are answered: those over a limit (429) count as well. */
  readonly requests: number
  /** Messages that were accepted. */
  readonly messages: number
}

/** What is told of one process at most; what is beyond is not. */
export const toldRatesMax = 100

/** What processes tell each other of their busiest accounts, for the operator. Nothing is decided by it; it may be forgotten when the store stops. */
export interface AccountRates {
  /** Replaces what the process `by` (a UUID of its own) told before, at most `toldRatesMax` of them. What was told over a minute ago is forgotten. */
  tell(by: string, rates: readonly AccountRate[]): Promise<void>
  /** The sums of what processes told in the last `seconds`, by the store's clock: by requests, then messages, the most first, then by account. */
  list(seconds: number): Promise<readonly AccountRate[]>
}

/** Is told what accounts do as it happens. Never throws. */
export interface AccountActivity {
  /** A request with right credentials, before its limits are looked at. */
  requested(account: AccountId): void
  /** Messages that were accepted at once. */
  accepted(account: AccountId, messages: number): void
}
