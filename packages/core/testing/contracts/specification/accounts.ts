import { burstSeconds, may, type Account, type OverLimit } from '@gateway/core/accounts'
import { balanceMax, credits, minus, plus, type Credits, type TransferFailure } from '@gateway/core/credits'
import type { Session, SessionBounds } from '@gateway/core/people'
import { secondsAfter, type Instant } from '@gateway/core/time'

/** Properties of an account on which a transfer depends. */
export interface Holder {
  readonly locked: boolean
  readonly balance: Credits
}

/** Returns the balance after an entry, or undefined if it would be negative or above `balanceMax`. */
export const balanceAfter = (balance: Credits, amount: Credits): Credits | undefined =>
  balance + amount >= 0 && balance + amount <= balanceMax ? plus(balance, amount) : undefined

/** Returns why a transfer fails, in order of precedence (ruling 3.7), or undefined if it succeeds. */
export function transferFailure(from: Holder, to: Holder, amount: Credits): TransferFailure | undefined {
  if (!may(from, 'transfer')) return 'from-account-locked'
  if (!may(to, 'transfer')) return 'to-account-locked'
  if (balanceAfter(from.balance, minus(credits(0), amount)) === undefined) return 'insufficient-credits'
  return balanceAfter(to.balance, amount) === undefined ? 'failed' : undefined
}

/**
 * Returns true if a session has ended, assuming that the account's password is still the one with which it was opened.
 */
export const isSessionOver = (
  { opened, used }: Pick<Session, 'opened' | 'used'>,
  { locked }: Pick<Account, 'locked'>,
  { idleSeconds, secondsMax }: SessionBounds,
  now: Instant,
): boolean => locked || secondsAfter(used, idleSeconds) <= now || secondsAfter(opened, secondsMax) <= now

/**
 * Charges `count` uses to a limit of `perSecond`. Returns the time at which they are paid off, if earlier uses are paid
 * off at `paidOff`. A request is accepted if its count is free, or if one second's worth is free when the count is
 * larger. A larger request is accepted whole and delays later ones, so that the average stays within the limit.
 */
export function useRate(
  paidOff: Instant | undefined,
  count: number,
  perSecond: number,
  now: Instant,
): { readonly paidOff: Instant } | OverLimit {
  const burst = burstSeconds * 1000
  const cost = (count * 1000) / perSecond
  const from = Math.max(paidOff ?? -Infinity, now - burst)
  const waitMilliseconds = from + Math.min(cost, burst) - now
  if (waitMilliseconds > 0) return { overLimitSeconds: Math.max(1, Math.ceil(waitMilliseconds / 1000)) }
  return { paidOff: (from + cost) as Instant }
}
