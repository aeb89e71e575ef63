import type { AccountId } from '@gateway/core/accounts'
import type { LoginFailures, Secrets } from '@gateway/core/people'
import { LRUCache } from 'lru-cache'

/** Failed log-ins from one network: with the name of one account, or with unknown names. */
export interface FailedLogins {
  /** Null: nobody has the names. They are not told, as somebody may have typed a password there (P-15). */
  readonly account: AccountId | null
  readonly network: string
  /** Since the report before this one of the same account and network. */
  readonly failures: number
}

interface Window {
  readonly account: AccountId | null
  readonly network: string
  unreported: number
}

export interface FailedLoginReports {
  /** `user` stands for the name, which is looked up: null if nobody has it. */
  failed(user: string, account: AccountId | null, network: string): void
  /** Refused without a look-up, so counted for the account that the user's last failure was told of. */
  failedAgain(user: string, network: string): void
}

/** Number of users kept for `failedAgain`. */
const usersMax = 10_000

/** The network under which reports beyond `windowsMax` are combined. */
const otherNetworks = 'others'

/**
 * Reports the first failure of an account (or of unknown names) from a network at once, and later ones together, at
 * most once in
 * `seconds` (60). Beyond `windowsMax` (100) of them at a time the network is 'others'.
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
    if (window.unreported > 0) tell(key, window)
  }

  function tell(key: string, { account, network, unreported }: Window): void {
    open(key, { account, network, unreported: 0 })
    report({ account, network, failures: unreported })
  }

  function add(account: AccountId | null, network: string): void {
    const key = `${account ?? ''} ${network}`
    const window = windows.get(key)
    if (window !== undefined) window.unreported++
    else if (windows.size < windowsMax || network === otherNetworks) tell(key, { account, network, unreported: 1 })
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
 * Counts failed log-ins in this process alone. Remembers `keysMax` keys: more than can fail while they are hashed one
 * after the other. `now` is in milliseconds and never goes back.
 */
export function failureCounts(keysMax = 10_000, now: () => number = () => performance.now()): LoginFailures {
  /** When each failure stops to count, in order. */
  const endings = new LRUCache<string, readonly number[]>({ max: keysMax })

  return {
    count(key, { failuresMax, seconds }) {
      // Whole milliseconds, so that adding and subtracting the limit is exact.
      const at = Math.floor(now())
      const counting = (endings.peek(key) ?? []).filter((ends) => ends > at)
      const isWithinLimit = counting.length < failuresMax
      const all = isWithinLimit ? [...counting, at + seconds * 1000].sort((a, b) => a - b) : counting
      endings.set(key, all)
      // There is room when all but the last `failuresMax` and the first of these have ended.
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
 * Counts start again `seconds` after their first. Of more than `keysMax` keys the one counted longest ago is forgotten.
 * `now` is in milliseconds and never goes back.
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
