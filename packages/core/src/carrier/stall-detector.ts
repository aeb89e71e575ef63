import type { Clock } from '../time/clock.ts'
import type { Instant } from '../time/instant.ts'
import { isStalled, isSuspect, observe, works, type Observation, type Stall, type Work } from './stall.ts'

/** Looks again and again whether work moves, and asks whether the store answers where it does not. */
export interface StallDetector {
  /** Runs what renews the lease, and remembers when it did or failed; rejects as it does. `renew` returns false: there is no lease. */
  renewing(renew: () => Promise<boolean>): Promise<void>
  /** One look. True: whether the store answers should be found out now. */
  look(at: (work: Work) => Pick<Observation, 'isWaiting' | 'moved'>): boolean
  /** What was stalled at the last look. */
  stalled(): readonly Work[]
}

export function createStallDetector(clock: Clock, stallSeconds: number): StallDetector {
  const stalls = new Map<Work, Stall>()
  let renewed: Instant | undefined
  let failed: Instant | undefined
  let renewals = 0
  return {
    async renewing(renew) {
      renewals++
      try {
        if (await renew()) renewed = clock.now()
      } catch (problem) {
        failed = clock.now()
        throw problem
      } finally {
        renewals--
      }
    },
    look(at) {
      for (const work of works) {
        const now = { at: clock.now(), ...at(work), renewed, failed }
        stalls.set(work, observe(stalls.get(work), now, stallSeconds))
      }
      return renewals === 0 && [...stalls.values()].some((stall) => isSuspect(stall, stallSeconds))
    },
    stalled: () => [...stalls].filter(([, stall]) => isStalled(stall, stallSeconds)).map(([work]) => work),
  }
}
