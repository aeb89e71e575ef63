import type { AccountId } from '../account/account.ts'
import type { Msisdn } from './msisdn.ts'
import type { SenderAddress } from './sender-address.ts'

/** A short or long code and the account whose messages leave from it. */
export interface AssignedCode {
  readonly code: SenderAddress
  readonly account: AccountId
}

/** Which address a message leaves from, so that its reply finds the account (ruling 1.18). */
export interface Senders {
  /**
   * One address of the pool for each number, in order: always the same for an account and a number while the pool has it, and as
   * long as there are enough, another one than any other account has for that number, whoever asks at the same time. The same number
   * may be given twice. `pool` has at least one.
   */
  choose(by: AccountId, numbers: readonly Msisdn[], pool: readonly SenderAddress[]): Promise<readonly SenderAddress[]>
  /** Seen by every process within 5 seconds, as changes of accounts are. 'taken': another account has it; 'already': this one. */
  assign(code: SenderAddress, account: AccountId): Promise<'assigned' | 'already' | 'taken' | 'no-such-account'>
  /** False: nobody has it. What was sent from it can still be answered. */
  release(code: SenderAddress): Promise<boolean>
  /** Every code that an account has, by code as text. */
  assigned(): Promise<readonly AssignedCode[]>
}
