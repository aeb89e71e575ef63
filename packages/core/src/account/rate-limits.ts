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
