/** How often each message was refused for now. */
export interface Refusals {
  /** True the first `times` times that a message with this key comes; then false once, and it begins anew. */
  isRefused(key: string, times: number): boolean
}

const keysMax = 100_000

/** Forgets the oldest beyond 100 000 keys. */
export function refusals(): Refusals {
  const counts = new Map<string, number>()
  return {
    isRefused(key, times) {
      const count = counts.get(key) ?? 0
      counts.delete(key)
      if (count >= times) return false
      counts.set(key, count + 1)
      if (counts.size > keysMax) counts.delete(counts.keys().next().value ?? '')
      return true
    },
  }
}
