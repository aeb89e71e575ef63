import type { Instant } from '../time/instant.ts'

/** When lists are tried again that failed a moment ago. Later times are left to whoever looks now and then. */
export interface RetryTimes {
  add(next: Instant | undefined, now: Instant): void
  /** From now to the earliest, and a little more, so that it is due by then; infinity: there is none. */
  nextMilliseconds(now: Instant): number
}

const soonMilliseconds = 10_000
/** Times are told apart by no less, which also bounds how many there are. */
const stepMilliseconds = 100

export function createRetryTimes(): RetryTimes {
  let steps: number[] = []
  return {
    add: (next, now) => {
      if (next === undefined || next - now > soonMilliseconds) return
      const step = Math.ceil(next / stepMilliseconds) + 1
      if (!steps.includes(step)) steps.push(step)
    },
    nextMilliseconds: (now) => {
      steps = steps.filter((step) => step * stepMilliseconds > now)
      return Math.min(Infinity, ...steps.map((step) => step * stepMilliseconds - now))
    },
  }
}
