import { LRUCache } from 'lru-cache'

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
