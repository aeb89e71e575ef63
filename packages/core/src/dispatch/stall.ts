import type { Clock, Instant } from '../time/instant.ts'

/** What a dispatcher may fail to move: messages of a lane, or the answers of the carrier on their way to the store. */
export type Work = 'single' | 'bulk' | 'outcomes'

export const works: readonly Work[] = ['single', 'bulk', 'outcomes']

/** One kind of work at one moment. */
export interface Observation {
  readonly at: Instant
  /** Something waits that could move: neither the carrier's room nor an end in good order is the reason. */
  readonly isWaiting: boolean
  /** How often something of it has moved so far. */
  readonly moved: number
  /** When the store last renewed the lease, and when it last failed to; undefined: never. */
  readonly renewed: Instant | undefined
  readonly failed: Instant | undefined
}

/** Since when a kind of work waits and does not move; undefined: it moves, or nothing waits. */
export interface Stall {
  readonly last: Observation
  readonly since: Instant | undefined
}

/** The next look. Who was not looked at for half of `seconds` (a paused process) begins anew. */
export function observe(before: Stall | undefined, now: Observation, seconds: number): Stall {
  const isStill = now.isWaiting && before !== undefined && before.last.moved === now.moved
  const isGap = before !== undefined && now.at - before.last.at > seconds * 500
  if (!isStill || isGap) return { last: now, since: now.isWaiting ? now.at : undefined }
  const failedSince = now.failed !== undefined && now.failed > (before.since ?? now.at)
  return { last: now, since: failedSince ? now.failed : (before.since ?? now.at) }
}

/** It has stood for half of the time: whether the store answers is to be found out now. */
export const isSuspect = ({ last, since }: Stall, seconds: number): boolean =>
  since !== undefined && last.at - since >= seconds * 500

/**
 * No progress (P-17): work waits and could move, nothing of it has moved for `seconds`, and the store answers: it has
 * not failed to renew the lease in that time, and has renewed it in the second half.
 */
export const isStalled = ({ last, since }: Stall, seconds: number): boolean =>
  since !== undefined &&
  last.at - since >= seconds * 1000 &&
  last.renewed !== undefined &&
  last.renewed - since >= seconds * 500

/** Looks again and again whether work moves, and asks whether the store answers where it does not. */
export interface StallDetector {
  /**
   * Runs what renews the lease, and remembers when it did or failed; rejects as it does. `renew` returns false: there
   * is no lease.
   */
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
