import type { Clock } from '../time/clock.ts'
import type { Instant } from '../time/instant.ts'
import { isStalled, isSuspect, observe, works, type Standstill, type Work } from './standstill.ts'

/** Looks again and again whether work moves, and asks whether the store answers where it does not. */
export interface ProgressWatch {
  /** Something of this work has moved. */
  moved(work: Work): void
  /** Runs what renews the lease, and remembers when it did or failed; rejects as it does. `renew` returns false: there is no lease. */
  renewing(renew: () => Promise<boolean>): Promise<void>
  /** One look. `isWaiting`: something of the work waits that could move. True: whether the store answers should be found out now. */
  look(isWaiting: (work: Work) => boolean): boolean
  /** What stood still at the last look. */
  stalled(): readonly Work[]
}

export function watchProgress(clock: Clock, stallSeconds: number): ProgressWatch {
  const moves: Record<Work, number> = { single: 0, bulk: 0, outcomes: 0 }
  const standstills: Partial<Record<Work, Standstill>> = {}
  let renewed: Instant | undefined
  let failed: Instant | undefined
  let renewals = 0

  const look = (work: Work, isWaiting: boolean): Standstill =>
    (standstills[work] = observe(
      standstills[work],
      { at: clock.now(), isWaiting, moved: moves[work], renewed, failed },
      stallSeconds,
    ))

  return {
    moved(work) {
      moves[work]++
    },
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
    look(isWaiting) {
      const isAnySuspect = works
        .map((work) => look(work, isWaiting(work)))
        .some((standstill) => isSuspect(standstill, stallSeconds))
      return isAnySuspect && renewals === 0
    },
    stalled: () =>
      works.filter((work) => {
        const standstill = standstills[work]
        return standstill !== undefined && isStalled(standstill, stallSeconds)
      }),
  }
}
