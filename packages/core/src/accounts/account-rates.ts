import type { AccountId } from './account.ts'

/** What an account does in a second, on average over some seconds. */
export interface AccountRate {
  readonly account: AccountId
  /** Requests with right credentials, whatever they are answered: those over a limit (429) count as well. */
  readonly requests: number
  /** Messages that were accepted. */
  readonly messages: number
}

/** What is told of one process at most; what is beyond is not. */
export const toldRatesMax = 100

/**
 * What processes tell each other of their busiest accounts, for the operator. Nothing is decided by it; it may be
 * forgotten when the store stops.
 */
export interface AccountRates {
  /**
   * Replaces what the process `by` (a UUID of its own) told before, at most `toldRatesMax` of them. What was told over
   * a minute ago is forgotten.
   */
  tell(by: string, rates: readonly AccountRate[]): Promise<void>
  /**
   * The sums of what processes told in the last `seconds`, by the store's clock: by requests, then messages, the most
   * first, then by account.
   */
  list(seconds: number): Promise<readonly AccountRate[]>
}

/** Is told what accounts do as it happens. Never throws. */
export interface AccountActivity {
  /** A request with right credentials, before its limits are looked at. */
  requested(account: AccountId): void
  /** Messages that were accepted at once. */
  accepted(account: AccountId, messages: number): void
}

/** Periods that count as lately. */
const periodsMax = 6

/** So many are the busiest, by requests and by messages each. */
export const busiestAccountsMax = 20

interface Counts {
  requests: number
  messages: number
}

/** What accounts did in a period that has ended. */
interface Period {
  readonly counts: ReadonlyMap<AccountId, Counts>
  readonly seconds: number
}

/** Counts what accounts do, by periods of its caller. Keeps a row for each account that was active in the last six. */
export interface BusyAccounts {
  readonly activity: AccountActivity
  /** Ends a period, which lasted for so long. False: nothing was done in the last six. */
  endPeriod(seconds: number): boolean
  /** Of the last period: the `busiestAccountsMax` with the most requests, and those with the most messages. */
  last(): readonly AccountRate[]
  /**
   * Of the last six periods, which count as a minute at least: the `busiestAccountsMax` with the most of these, and the
   * sum of the others.
   */
  readonly lately: (what: 'requests' | 'messages') => {
    readonly busiest: readonly AccountRate[]
    readonly others: number
  }
}

/** `begun` is called with the first that is done after nothing was done for six periods. */
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
    lately: (what) => most(ratesIn(periods, 60), what),
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

function most(rates: readonly AccountRate[], what: 'requests' | 'messages') {
  const sorted = rates.filter((rate) => rate[what] > 0).sort((a, b) => b[what] - a[what] || a.account - b.account)
  const others = sorted.slice(busiestAccountsMax).reduce((sum, rate) => sum + rate[what], 0)
  return { busiest: sorted.slice(0, busiestAccountsMax), others }
}

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
