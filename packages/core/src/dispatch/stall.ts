import type { Clock, Instant } from '../time/instant.ts'

/**
 * Kind of work in which a dispatcher may stop making progress: messages of one of the two lanes, or answers of the
 * carrier that are to be stored.
 */
export type Work = 'single' | 'bulk' | 'outcomes'

export const works: readonly Work[] = ['single', 'bulk', 'outcomes']

/** Observation of one kind of work at one moment. */
export interface Observation {
  readonly at: Instant
  /**
   * True if work is waiting that could move now. Work is not counted as waiting while the carrier has no room for it or
   * the dispatcher is stopping.
   */
  readonly isWaiting: boolean
  /** Number of messages that have moved since the start. */
  readonly moved: number
  /**
   * Time at which the store last renewed the lease (`renewed`) and at which a renewal last failed (`failed`); undefined
   * if that has never happened.
   */
  readonly renewed: Instant | undefined
  readonly failed: Instant | undefined
}

/**
 * Last observation, and the time since which work has been waiting without moving. `since` is undefined if the work
 * moves or if no work waits.
 */
export interface Stall {
  readonly last: Observation
  readonly since: Instant | undefined
}

/**
 * Adds an observation. If there was no observation for more than half of `seconds`, for example because the process was
 * paused, the waiting time is counted from zero again. A failed renewal of the lease also restarts it.
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
 * Returns true if there is no progress (P-17): work that could move has not moved for `seconds`, although the store
 * answers. The store answers if it renewed the lease in the second half of that time. A failed renewal restarts the
 * time (`observe`).
 */
export const isStalled = ({ last, since }: Stall, seconds: number): boolean =>
  since !== undefined &&
  last.at - since >= seconds * 1000 &&
  last.renewed !== undefined &&
  last.renewed - since >= seconds * 500

/** Detects work that does not move although the store answers. */
export interface StallDetector {
  /**
   * Runs `renew` and records when it succeeded or failed. Rejects if `renew` rejects. `renew` resolves to false if
   * there is no lease.
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
