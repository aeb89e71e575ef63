import type { Account, AccountId } from '../account/account.ts'
import type { SenderAddress } from './sender-address.ts'

/** The addresses that a message of the account may leave from: its first code, else the operator's pool. */
export const sendersOf = (account: Account, pool: readonly SenderAddress[]): readonly SenderAddress[] =>
  account.shortCodes.length > 0 ? account.shortCodes.slice(0, 1) : pool

/** The addresses of an order in the order in which its account prefers them: each begins at another one, so that all are used as much. */
export const preferredBy = <Sender>(by: AccountId, senders: readonly Sender[]): readonly Sender[] =>
  senders.map((_, i) => senders[(by + i) % senders.length] as Sender)
