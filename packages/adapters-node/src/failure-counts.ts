import type { Instant, TooManyFailures } from '@gateway/core'
import { LRUCache } from 'lru-cache'

/** Failures of each key within the last so many seconds, by the time that the caller gives. */
export interface FailureCounts {
  /** Counts a failure and returns how to take that back; or says that there have been too many, and counts nothing. */
  count(key: string, now: Instant): (() => void) | TooManyFailures
  /** When others have counted failures of it; what was learnt of the key before is forgotten. */
  learn(key: string, others: readonly Instant[]): void
}

interface Failures {
  /** The times of failures counted here, at most `failuresMax`, in order. */
  readonly own: Instant[]
  /** The latest `failuresMax` of those counted elsewhere. */
  readonly others: readonly Instant[]
}

/** Remembers `keysMax` keys: more than can fail while they are hashed one after the other. */
export function failureCounts(failuresMax: number, seconds: number, keysMax = 10_000): FailureCounts {
  const failures = new LRUCache<string, Failures>({ max: keysMax })
  const known = (key: string): Failures => failures.peek(key) ?? { own: [], others: [] }

  return {
    count(key, now) {
      // A clock that was set back ends a wait rather than to make it longer.
      const isRecent = (at: Instant) => at <= now && now - at < seconds * 1000
      const { own, others } = known(key)
      const mine = own.filter(isRecent)
      const all = [...mine, ...others.filter(isRecent)].sort((a, b) => a - b)
      // There is room when all but the last `failuresMax` and the first of these are forgotten.
      const first = all.at(-failuresMax)
      if (first !== undefined && all.length >= failuresMax) {
        return { retryAfterSeconds: Math.max(1, Math.ceil(seconds - (now - first) / 1000)) }
      }
      failures.set(key, { own: [...mine, now], others })
      return () => takeBack(key, now)
    },
    learn(key, others) {
      const latest = [...others].sort((a, b) => a - b).slice(-failuresMax)
      failures.set(key, { own: known(key).own, others: latest })
    },
  }

  function takeBack(key: string, at: Instant): void {
    const { own, others } = known(key)
    const index = own.indexOf(at)
    if (index >= 0) own.splice(index, 1)
    if (own.length === 0 && others.length === 0) failures.delete(key)
  }
}
