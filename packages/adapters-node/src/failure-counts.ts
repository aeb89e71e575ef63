import type { Instant, TooManyFailures } from '@gateway/core'
import { LRUCache } from 'lru-cache'

/** Failures of each key within the last so many seconds, by the time that the caller gives. */
export interface FailureCounts {
  /** Counts a failure and returns how to take that back; or says that there have been too many, and counts nothing. */
  count(key: string, now: Instant): (() => void) | TooManyFailures
}

/** Remembers `keysMax` keys: more than can fail while they are hashed one after the other. */
export function failureCounts(failuresMax: number, seconds: number, keysMax = 10_000): FailureCounts {
  /** The times of each key's failures, at most `failuresMax`, in order. */
  const failures = new LRUCache<string, Instant[]>({ max: keysMax })

  return {
    count(key, now) {
      // A clock that was set back ends a wait rather than to make it longer.
      const recent = (failures.peek(key) ?? []).filter((at) => at <= now && now - at < seconds * 1000)
      const [first] = recent
      if (first !== undefined && recent.length >= failuresMax) {
        return { retryAfterSeconds: Math.max(1, Math.ceil(seconds - (now - first) / 1000)) }
      }
      failures.set(key, [...recent, now])
      return () => takeBack(key, now)
    },
  }

  function takeBack(key: string, at: Instant): void {
    const times = failures.peek(key)
    const index = times?.indexOf(at) ?? -1
    if (index >= 0) times?.splice(index, 1)
    if (times?.length === 0) failures.delete(key)
  }
}
