import type { Instant } from '@gateway/core/time'
import { LRUCache } from 'lru-cache'

/**
 * The pairs of user name and password that were verified lately, as keyed digests from which no password can be
 * computed.
 */
export interface VerifiedPairs {
  /** Against which stored hash the pair was right, as its digest; undefined if that is too long ago. */
  against(pair: string, now: Instant): string | undefined
  /** The pair was right, or was used and still is. */
  renew(pair: string, stored: string, now: Instant): void
}

/** Keeps each pair for `seconds` after its last use, and at most `pairsMax`; the least recently used one is dropped. */
export function verifiedPairs(seconds: number, pairsMax: number): VerifiedPairs {
  const used = new LRUCache<string, { readonly stored: string; readonly at: Instant }>({ max: pairsMax })
  return {
    against(pair, now) {
      const last = used.peek(pair)
      // `now` may be a little before the last use, but a clock that was set back makes no pair last longer.
      if (last !== undefined && Math.abs(now - last.at) < seconds * 1000) return last.stored
      used.delete(pair)
      return undefined
    },
    renew(pair, stored, now) {
      used.set(pair, { stored, at: now })
    },
  }
}
