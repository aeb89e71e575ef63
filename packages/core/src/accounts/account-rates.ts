import type { AccountId } from './account.ts'

/** Requests and messages of an account per second, averaged over some seconds. */
export interface AccountRate {
  readonly account: AccountId
  /** Requests with valid credentials, including those refused over a rate limit (429). */
  readonly requests: number
  /** Accepted messages. */
  readonly messages: number
}

/** Maximum number of rates that one process reports. */
export const reportedRatesMax = 100

/**
 * Request and message rates of accounts: use of their rate limits, and reports of processes about their busiest
 * accounts, for the operator. Shared by all processes. They may be lost when the store stops.
 */
export interface AccountRates {
  /** Consumes `count` units of the rate limit, or none if `useRate` does not allow all of them. */
  take(account: AccountId, limit: Rated, count: number, perSecond: number): Promise<'taken' | OverLimit>
  /**
   * Replaces the previous report of the process `by` (a UUID of the process), with at most `reportedRatesMax` rates.
   * Reports older than a minute are deleted.
   */
  report(by: string, rates: readonly AccountRate[]): Promise<void>
  /**
   * Returns the sums of the reports of the last `seconds` by the store's clock, sorted by requests, then messages, both
   * descending, then by account.
   */
  list(seconds: number): Promise<readonly AccountRate[]>
}

/** Observer of what accounts do. Its methods never throw. */
export interface AccountActivity {
  /** Called for a request with valid credentials, before its rate limit is checked. */
  requested(account: AccountId): void
  /** Called when messages were accepted. */
  accepted(account: AccountId, messages: number): void
}

/** Number of periods that count as recent. */
const periodsMax = 6

/** Number of accounts in a list of the busiest accounts. There is a list by requests and a list by messages. */
export const busiestAccountsMax = 20

interface Counts {
  requests: number
  messages: number
}

/** Activity of accounts in a period that has ended. */
interface Period {
  readonly counts: ReadonlyMap<AccountId, Counts>
  readonly seconds: number
}

/**
 * Counts the activity of accounts by period; the caller ends the periods. Stores counts for each account that was
 * active in the last six periods.
 */
export interface BusyAccounts {
  readonly activity: AccountActivity
  /** Ends a period that lasted `seconds`. Returns false if there was no activity in the last six periods. */
  endPeriod(seconds: number): boolean
  /**
   * Returns, for the last period, the `busiestAccountsMax` accounts with the most requests, and those with the most
   * messages.
   */
  last(): readonly AccountRate[]
  /**
   * Returns, for the last six periods (at least one minute), the `busiestAccountsMax` accounts with the most requests
   * or messages, and the sum of the others.
   */
  readonly lately: (measure: 'requests' | 'messages') => {
    readonly busiest: readonly AccountRate[]
    readonly others: number
  }
}

/** Creates the counters. `begun` is called at the first activity after six periods without any. */
export function createBusyAccounts(begun: () => void = () => undefined): BusyAccounts {
  let current = new Map<AccountId, Counts>()
  let periods: readonly Period[] = []

  function countsOf(account: AccountId): Counts {
    const known = current.get(account)
    if (known !== undefined) return known
    const made = { requests: 0, messages: 0 }
    const isFirst = current.size === 0 && periods.length === 0
    current.set(account, made)
    if (isFirst) begun()
    return made
  }

  return {
    activity: {
      requested: (account) => {
        countsOf(account).requests++
      },
      accepted: (account, messages) => {
        countsOf(account).messages += messages
      },
    },
    endPeriod(seconds) {
      periods = [{ counts: current, seconds }, ...periods].slice(0, periodsMax)
      current = new Map()
      if (periods.some(({ counts }) => counts.size > 0)) return true
      periods = []
      return false
    },
    last() {
      const rates = ratesIn(periods.slice(0, 1), 0)
      const found = [...most(rates, 'requests').busiest, ...most(rates, 'messages').busiest]
      return [...new Set(found)]
    },
    lately: (measure) => most(ratesIn(periods, 60), measure),
  }
}

function ratesIn(periods: readonly Period[], secondsMin: number): readonly AccountRate[] {
  const seconds = Math.max(
    secondsMin,
    periods.reduce((sum, period) => sum + period.seconds, 0),
  )
  const sums = new Map<AccountId, Counts>()
  for (const { counts } of periods)
    for (const [account, { requests, messages }] of counts) {
      const sum = sums.get(account) ?? { requests: 0, messages: 0 }
      sums.set(account, { requests: sum.requests + requests, messages: sum.messages + messages })
    }
  return Array.from(sums, ([account, sum]) => ({
    account,
    requests: sum.requests / seconds,
    messages: sum.messages / seconds,
  }))
}

function most(rates: readonly AccountRate[], measure: 'requests' | 'messages') {
  const sorted = rates
    .filter((rate) => rate[measure] > 0)
    .sort((a, b) => b[measure] - a[measure] || a.account - b.account)
  const others = sorted.slice(busiestAccountsMax).reduce((sum, rate) => sum + rate[measure], 0)
  return { busiest: sorted.slice(0, busiestAccountsMax), others }
}

/** Rate that may be limited for an account. */
export type Rated = 'requests' | 'recipients'

/** Refusal over a rate limit. Nothing was done. A retry may succeed after this number of seconds, at least 1. */
export interface OverLimit {
  readonly overLimitSeconds: number
}

/** Seconds for which unused allowance accumulates. */
export const burstSeconds = 1
