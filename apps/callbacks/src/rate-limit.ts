/** Limits the rate of events by key. */
export interface RateLimit {
  /** Counts one event at this time, in milliseconds. Returns false if its key has had too many in this second. */
  admits(key: string, now: number): boolean
}

/** Creates a limit for each key. Counts of one second are dropped in the next, so that memory stays bounded. */
export function rateLimit(perSecondMax: number): RateLimit {
  let second = 0
  const counts = new Map<string, number>()
  return {
    admits(key, now) {
      const current = Math.floor(now / 1000)
      if (current !== second) counts.clear()
      second = current
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count <= perSecondMax
    },
  }
}
