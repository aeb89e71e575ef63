import type { LoginFailures } from '@gateway/core'
import { LRUCache } from 'lru-cache'

/**
 * Counts failed log-ins in this process alone. Remembers `keysMax` keys: more than can fail while they are hashed one
 * after the other. `now` is in milliseconds and never goes back.
 */
export function failureCounts(keysMax = 10_000, now: () => number = () => performance.now()): LoginFailures {
  /** When each failure stops to count, in order. */
  const endings = new LRUCache<string, readonly number[]>({ max: keysMax })

  return {
    count(key, { failuresMax, seconds }) {
      const at = now()
      const counting = (endings.peek(key) ?? []).filter((ends) => ends > at)
      const isWithinLimit = counting.length < failuresMax
      const all = isWithinLimit ? [...counting, at + seconds * 1000].sort((a, b) => a - b) : counting
      endings.set(key, all)
      // There is room when all but the last `failuresMax` and the first of these have ended.
      return Promise.resolve({ isWithinLimit, waitSeconds: ((all.at(-failuresMax) ?? at) - at) / 1000 })
    },
  }
}
