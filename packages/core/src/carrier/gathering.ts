import type { Clock } from '../time/clock.ts'

/** Calls after so many milliseconds, or never if what it is for has ended. */
export type Later = (milliseconds: number, call: () => void) => void

/** Lets answers of a carrier wait for those that come within a moment, so that one commit stores them all. */
export interface Gathering {
  /** So many answers came. */
  answered(count: number): void
  /**
   * Whether the answers that wait to be stored wait for those that the carrier owed when it was asked first: so many submissions are
   * unanswered. `over` is called when they should be stored after all.
   */
  isWorthIt(unanswered: number, over: () => void): boolean
  /** What waited is being stored. */
  ended(): void
}

/**
 * So long answers wait at most. With a carrier that answers at once that makes batches of 113 messages instead of 75: with piggybacked
 * marks 29 µs of PostgreSQL a message instead of 36.
 */
const gatherMilliseconds = 8
/** A carrier that was waited for in vain is not waited for again for so long, twice as long each further time. */
const pauseMilliseconds = 25
const pauseMillisecondsMax = 1000

/** Without `later` nothing ever waits. */
export function createGathering(clock: Clock, later: Later | undefined): Gathering {
  let awaited: { count: number } | undefined
  let pause = pauseMilliseconds
  let notBefore = -Infinity

  function giveUp(): void {
    notBefore = clock.now() + pause
    pause = Math.min(2 * pause, pauseMillisecondsMax)
  }

  return {
    answered(count) {
      if (awaited !== undefined) awaited.count -= count
    },
    isWorthIt(unanswered, over) {
      if (awaited !== undefined) return awaited.count > 0
      if (later === undefined || unanswered === 0 || clock.now() < notBefore) return false
      const begun = (awaited = { count: unanswered })
      later(gatherMilliseconds, () => {
        if (awaited !== begun) return
        giveUp()
        over()
      })
      return true
    },
    ended() {
      if (awaited !== undefined && awaited.count <= 0) pause = pauseMilliseconds
      awaited = undefined
    },
  }
}
