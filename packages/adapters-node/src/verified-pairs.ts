import type { Instant } from '@gateway/core/time'
import { LRUCache } from 'lru-cache'

/** Recently verified pairs of user name and password, as keyed digests from which no password can be computed. */
export interface VerifiedPairs {
  /**
   * Returns the digest of the stored hash against which the pair was verified, or undefined if that is too long ago.
   */
  against(pair: string, now: Instant): string | undefined
  /** Records that the pair was verified, or used again. */
  renew(pair: string, stored: string, now: Instant): void
}

/**
 * Remembers each pair for `seconds` after its last use, and at most `pairsMax`; the least recently used one is dropped.
 */
export function verifiedPairs(seconds: number, pairsMax: number): VerifiedPairs {
  const used = new LRUCache<string, { readonly stored: string; readonly at: Instant }>({ max: pairsMax })
  return {
    against(pair, now) {
      const last = used.peek(pair)
      // `now` may be slightly before the last use, but a clock that was set back does not extend the validity of a
      // pair.
      if (last !== undefined && Math.abs(now - last.at) < seconds * 1000) return last.stored
      used.delete(pair)
      return undefined
    },
    renew(pair, stored, now) {
      used.set(pair, { stored, at: now })
    },
  }
}
