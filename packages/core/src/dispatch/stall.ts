import type { Clock, Instant } from '../time/instant.ts'

/**
 * Work in which a dispatcher may stop making progress: messages of a lane, or answers of the carrier on their way to
 * the store.
 */
export type Work = 'single' | 'bulk' | 'outcomes'

export const works: readonly Work[] = ['single', 'bulk', 'outcomes']

/** Observation of one kind of work at one moment. */
export interface Observation {
  readonly at: Instant
  /** True if work waits that could move: neither the carrier's room nor an orderly end holds it back. */
  readonly isWaiting: boolean
  /** Number of movements so far. */
  readonly moved: number
  /** When the store last renewed the lease, and when it last failed to; undefined if never. */
  readonly renewed: Instant | undefined
  readonly failed: Instant | undefined
}

/** Since when work has been waiting without moving; `since` is undefined if it moves or no work waits. */
export interface Stall {
  readonly last: Observation
  readonly since: Instant | undefined
}

/**
 * Adds an observation. After a gap of half of `seconds` without observations (a paused process) the time starts again.
 */
export function observe(before: Stall | undefined, now: Observation, seconds: number): Stall {
  const isStill = now.isWaiting && before !== undefined && before.last.moved === now.moved
  const isGap = before !== undefined && now.at - before.last.at > seconds * 500
  if (!isStill || isGap) return { last: now, since: now.isWaiting ? now.at : undefined }
  const failedSince = now.failed !== undefined && now.failed > (before.since ?? now.at)
  return { last: now, since: failedSince ? now.failed : (before.since ?? now.at) }
}

/** True if work has not moved for half of `seconds`: time to check whether the store answers. */
export const isSuspect = ({ last, since }: Stall, seconds: number): boolean =>
  since !== undefined && last.at - since >= seconds * 500

/**
 * True if there is no progress (P-17): work waits and could move, none of it has moved for `seconds`, and the store
 * answers: it has not failed to renew the lease in that time, and has renewed it in the second half.
 */
export const isStalled = ({ last, since }: Stall, seconds: number): boolean =>
  since !== undefined &&
  last.at - since >= seconds * 1000 &&
  last.renewed !== undefined &&
  last.renewed - since >= seconds * 500

/** Detects work that does not move although the store answers. */
export interface StallDetector {
  /**
   * Runs `renew` and remembers when it succeeded or failed; rejects if it does. `renew` resolves to false if there is
   * no lease.
   */
  renewing(renew: () => Promise<boolean>): Promise<void>
  /** Observes all work once. Returns true if the caller should check now whether the store answers. */
  look(at: (work: Work) => Pick<Observation, 'isWaiting' | 'moved'>): boolean
  /** Returns the work that was stalled at the last `look`. */
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
