import { instant, secondsAfter, type Clock, type Instant } from '@gateway/core/time'

/** Returns a clock with the time of this machine. */
export const realClock = (): Clock => ({ now: () => instant(Date.now()) })

/** A clock that stands still until a test moves it. */
export interface SteppingClock extends Clock {
  /** Moves the clock forward by `seconds`, or back if negative; returns the new time. */
  step(seconds: number): Instant
}

/** Creates a clock that starts at `start`, by default 2026-10-18T08:00Z. */
export function steppingClock(start: Instant = instant(Date.UTC(2026, 9, 18, 8))): SteppingClock {
  let now = start
  return {
    now: () => now,
    step: (seconds) => (now = secondsAfter(now, seconds)),
  }
}
