import type { Account, AccountId } from '../account/account.ts'
import type { SenderAddress } from './msisdn.ts'

/** A short or long code and the account whose messages leave from it. */
export interface AssignedCode {
  readonly code: SenderAddress
  readonly account: AccountId
}

/** Which codes are whose. */
export interface Senders {
  /** Seen by every process within 5 seconds, as changes of accounts are. 'taken': another account has it; 'already': this one. */
  assign(code: SenderAddress, account: AccountId): Promise<'assigned' | 'already' | 'taken' | 'no-such-account'>
  /** False: nobody has it. What was sent from it can still be answered. */
  release(code: SenderAddress): Promise<boolean>
  /** Every code that an account has, by code as text. */
  assigned(): Promise<readonly AssignedCode[]>
}

/** The addresses that a message of the account may leave from: its first code, else the operator's pool. */
export const sendersOf = (account: Account, pool: readonly SenderAddress[]): readonly SenderAddress[] =>
  account.shortCodes.length > 0 ? account.shortCodes.slice(0, 1) : pool

/** The addresses of an order in the order in which its account prefers them: each begins at another one, so that all are used as much. */
export const preferredBy = <Sender>(by: AccountId, senders: readonly Sender[]): readonly Sender[] =>
  senders.map((_, i) => senders[(by + i) % senders.length] as Sender)
