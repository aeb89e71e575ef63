import type { AccountId } from '@gateway/core/accounts'
import type { LoginFailures, Secrets } from '@gateway/core/people'
import { LRUCache } from 'lru-cache'

/** Failed log-ins from one network, with the name of one account or with unknown names. */
export interface FailedLogins {
  /**
   * Null for unknown names. The names are not reported, because a person may have typed a password as a name (P-15).
   */
  readonly account: AccountId | null
  readonly network: string
  /** Number of failures since the previous report of the same account and network. */
  readonly failures: number
}

interface Window {
  readonly account: AccountId | null
  readonly network: string
  unreported: number
}

export interface FailedLoginReports {
  /** Records a failure. `user` is the name, and `account` the account with that name, or null. */
  failed(user: string, account: AccountId | null, network: string): void
  /** Records a log-in that was refused without a look-up. It is counted for the account of the user's last failure. */
  failedAgain(user: string, network: string): void
}

/** Maximum number of users remembered for `failedAgain`. */
const usersMax = 10_000

/** Network under which reports beyond `windowsMax` are combined. */
const otherNetworks = 'others'

/**
 * Reports the first failure of an account (or of unknown names) from a network at once. Later failures are reported
 * together, at most once in `seconds` (default 60). While more than `windowsMax` (default 100) combinations of account
 * and network have failures, further ones are reported with the network 'others'.
 */
export function failedLoginReports(
  report: (failed: FailedLogins) => void,
  { seconds = 60, windowsMax = 100 }: { readonly seconds?: number; readonly windowsMax?: number } = {},
): FailedLoginReports {
  const accounts = new LRUCache<string, { readonly id: AccountId | null }>({ max: usersMax })
  const windows = new Map<string, Window>()

  function open(key: string, window: Window): void {
    windows.set(key, window)
    setTimeout(() => close(key, window), seconds * 1000).unref()
  }

  function close(key: string, window: Window): void {
    windows.delete(key)
    if (window.unreported > 0) reportFailures(key, window)
  }

  function reportFailures(key: string, { account, network, unreported }: Window): void {
    open(key, { account, network, unreported: 0 })
    report({ account, network, failures: unreported })
  }

  function add(account: AccountId | null, network: string): void {
    const key = `${account ?? ''} ${network}`
    const window = windows.get(key)
    if (window !== undefined) window.unreported++
    else if (windows.size < windowsMax || network === otherNetworks)
      reportFailures(key, { account, network, unreported: 1 })
    else add(null, otherNetworks)
  }

  return {
    failed(user, account, network) {
      accounts.set(user, { id: account })
      add(account, network)
    },
    failedAgain(user, network) {
      const account = accounts.get(user)
      if (account !== undefined) add(account.id, network)
    },
  }
}

/**
 * Counts the failed log-ins of this process alone. Remembers `keysMax` keys. By default, these are more than can fail
 * before the first of them expires, because hashing limits the rate of log-ins. `now` returns milliseconds and never
 * goes back.
 */
export function failureCounts(keysMax = 10_000, now: () => number = () => performance.now()): LoginFailures {
  /** Times at which the failures expire, in order. */
  const endings = new LRUCache<string, readonly number[]>({ max: keysMax })

  return {
    count(key, { failuresMax, seconds }) {
      // Integer milliseconds, so that adding and subtracting the limit is exact.
      const at = Math.floor(now())
      const counting = (endings.peek(key) ?? []).filter((ends) => ends > at)
      const isWithinLimit = counting.length < failuresMax
      const all = isWithinLimit ? [...counting, at + seconds * 1000].sort((a, b) => a - b) : counting
      endings.set(key, all)
      // The next attempt is possible when fewer than `failuresMax` failures remain, which is when the failure at this
      // place expires.
      return Promise.resolve({ isWithinLimit, waitSeconds: ((all.at(-failuresMax) ?? at) - at) / 1000 })
    },
  }
}

/** Counts recent events by key. */
export interface RecentCounts {
  add(key: string): void
  of(key: string): number
}

/**
 * Counts events by key. A count starts again `seconds` after its first event. Remembers at most `keysMax` keys and
 * drops the one whose last event is the oldest. `now` returns milliseconds and never goes back.
 */
export function recentCounts(
  seconds: number,
  keysMax = 10_000,
  now: () => number = () => performance.now(),
): RecentCounts {
  const counts = new LRUCache<string, { readonly since: number; count: number }>({ max: keysMax })
  const current = (key: string) => {
    const entry = counts.peek(key)
    return entry !== undefined && now() - entry.since < seconds * 1000 ? entry : undefined
  }
  return {
    add(key) {
      const entry = current(key) ?? { since: now(), count: 0 }
      entry.count++
      counts.set(key, entry)
    },
    of: (key) => current(key)?.count ?? 0,
  }
}

type Checked = Awaited<ReturnType<Secrets['checkPassword']>>

/** Outcome of a log-in. Unknown names count as wrong passwords, because strangers may see the counts. */
export type LoginOutcome = 'right' | 'wrong' | 'too-many-failures' | 'overloaded'

export interface LoginCounts {
  readonly count: (checked: Checked) => void
  readonly counts: Readonly<Record<LoginOutcome, number>>
}

export function loginCounts(): LoginCounts {
  const counts = { right: 0, wrong: 0, 'too-many-failures': 0, overloaded: 0 } satisfies Record<LoginOutcome, number>
  return {
    counts,
    count: (checked) => {
      counts[outcomeOf(checked)]++
    },
  }
}

function outcomeOf(checked: Checked): LoginOutcome {
  if (typeof checked === 'string') return checked
  return 'account' in checked ? 'right' : 'too-many-failures'
}
