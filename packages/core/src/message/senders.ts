import type { AccountId } from '../account/account.ts'
import type { SenderAddress } from './sender-address.ts'

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
