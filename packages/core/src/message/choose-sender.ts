import type { Account, AccountId } from '../account/account.ts'
import type { SenderAddress } from './sender-address.ts'

/** The addresses that a message of the account may leave from: its first code, else the operator's pool. */
export const sendersOf = (account: Account, pool: readonly SenderAddress[]): readonly SenderAddress[] =>
  account.shortCodes.length > 0 ? account.shortCodes.slice(0, 1) : pool

/** The addresses of an order in the order in which its account prefers them: each begins at another one, so that all are used as much. */
export const preferredBy = <Sender>(by: AccountId, senders: readonly Sender[]): readonly Sender[] =>
  senders.map((_, i) => senders[(by + i) % senders.length] as Sender)

/**
 * The address at which a number hears an account, so that a reply finds the account (ruling 1.18): the one that it has heard it at before,
 * else one at which it hears no other account, else the one that the account prefers. Stores decide this for many numbers in one
 * statement, on rows that they lock; the contract of messages proves over generated cases that they agree with this function.
 */
export const chooseSender = <Sender>(
  preferred: readonly Sender[],
  before: Sender | undefined,
  ofOthers: ReadonlySet<Sender>,
): Sender | undefined => {
  if (before !== undefined && preferred.includes(before)) return before
  return preferred.find((sender) => !ofOthers.has(sender)) ?? preferred[0]
}
