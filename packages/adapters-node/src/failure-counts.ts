import type { Instant, TooManyFailures } from '@gateway/core'

/** Failures of each key within the last so many seconds, by the time that the caller gives. */
export interface FailureCounts {
  /** Counts a failure and returns how to take that back; or says that there have been too many, and counts nothing. */
  count(key: string, now: Instant): (() => void) | TooManyFailures
}

/** Remembers `keysMax` keys: more than can fail while they are hashed one after the other. */
export function failureCounts(failuresMax: number, seconds: number, keysMax = 10_000): FailureCounts {
  /** The times of each key's failures, at most `failuresMax`, in order; the key that failed last is at the end. */
  const failures = new Map<string, Instant[]>()

  return {
    count(key, now) {
      // A clock that was set back ends a wait rather than to make it longer.
      const recent = (failures.get(key) ?? []).filter((at) => at <= now && now - at < seconds * 1000)
      const [first] = recent
      if (first !== undefined && recent.length >= failuresMax) {
        return { retryAfterSeconds: Math.max(1, Math.ceil(seconds - (now - first) / 1000)) }
      }
      failures.delete(key)
      failures.set(key, [...recent, now])
      const [oldest] = failures.keys()
      if (failures.size > keysMax && oldest !== undefined) failures.delete(oldest)
      return () => takeBack(key, now)
    },
  }

  function takeBack(key: string, at: Instant): void {
    const times = failures.get(key) ?? []
    const index = times.indexOf(at)
    if (index >= 0) failures.set(key, times.toSpliced(index, 1))
    if (failures.get(key)?.length === 0) failures.delete(key)
  }
}
