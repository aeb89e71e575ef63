import type { Instant } from '@gateway/core'

/** Which pairs were right lately. It holds keyed digests, from which nobody gets a password. */
export interface VerifiedPairs {
  has(digest: string, now: Instant): boolean
  add(digest: string, now: Instant): void
}

/** Remembers each for `seconds` from when it was added, and at most `pairsMax`: then the one not used longest is forgotten. */
export function verifiedPairs(seconds: number, pairsMax: number): VerifiedPairs {
  /** A Map keeps the order in which keys were set: the one used last is at the end. */
  const added = new Map<string, Instant>()
  return {
    has(digest, now) {
      const since = added.get(digest)
      if (since === undefined) return false
      added.delete(digest)
      // A clock that was set back must not make a pair last longer.
      if (now < since || now - since >= seconds * 1000) return false
      added.set(digest, since)
      return true
    },
    add(digest, now) {
      added.delete(digest)
      added.set(digest, now)
      const [oldest] = added.keys()
      if (added.size > pairsMax && oldest !== undefined) added.delete(oldest)
    },
  }
}
