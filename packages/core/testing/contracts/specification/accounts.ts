import { burstSeconds, may, type Account, type OverLimit } from '@gateway/core/accounts'
import { balanceMax, credits, minus, plus, type Credits, type TransferFailure } from '@gateway/core/credits'
import type { Session, SessionBounds } from '@gateway/core/people'
import { secondsAfter, type Instant } from '@gateway/core/time'

/** What a transfer is decided by. */
export interface Holder {
  readonly locked: boolean
  readonly balance: Credits
}

/** The balance after an entry; undefined: it would be negative, or more than `balanceMax`. */
export const balanceAfter = (balance: Credits, amount: Credits): Credits | undefined =>
  balance + amount >= 0 && balance + amount <= balanceMax ? plus(balance, amount) : undefined

/** Why these credits do not move, in the order that wins (ruling 3.7); undefined: they do. */
export function transferFailure(from: Holder, to: Holder, amount: Credits): TransferFailure | undefined {
  if (!may(from, 'transfer')) return 'from-account-locked'
  if (!may(to, 'transfer')) return 'to-account-locked'
  if (balanceAfter(from.balance, minus(credits(0), amount)) === undefined) return 'insufficient-credits'
  return balanceAfter(to.balance, amount) === undefined ? 'failed' : undefined
}

/** Whether a session is over, where its account still has the password that it was opened under. */
export const isSessionOver = (
  { opened, used }: Pick<Session, 'opened' | 'used'>,
  { locked }: Pick<Account, 'locked'>,
  { idleSeconds, secondsMax }: SessionBounds,
  now: Instant,
): boolean => locked || secondsAfter(used, idleSeconds) <= now || secondsAfter(opened, secondsMax) <= now

/**
 * Until when `count` more are paid off by `perSecond`, where what was used before is paid off at `paidOff`. They are
 * taken if a second's worth is free, or all of a smaller count: a request of more than a second's worth waits for a
 * whole second and delays what follows, so that the average keeps to the limit.
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
