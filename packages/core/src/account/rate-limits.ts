import type { Instant } from '../time/instant.ts'
import type { AccountId } from './account.ts'

/** What an account may have a limit of, each a second. */
export type Rated = 'requests' | 'recipients'

/** More a second than the account may have. Nothing was done; there is room again after so many seconds, at least 1. */
export interface OverLimit {
  readonly overLimitSeconds: number
}

/** What accounts with a limit have used lately, together in all processes. It may be forgotten when the store stops. */
export interface RateLimits {
  /** Takes all of `count`, or nothing, by the rule of `useRate`. */
  take(account: AccountId, what: Rated, count: number, perSecond: number): Promise<'taken' | OverLimit>
}

/** What was not used for so long may be used at once. */
export const burstSeconds = 1

/**
 * Until when `count` more are paid off by `perSecond`, where what was used before is paid off at `paidOff`. They are taken if
 * a second's worth is free, or all of a smaller count: a request of more than a second's worth waits for a whole second and
 * delays what follows, so that the average keeps to the limit.
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
