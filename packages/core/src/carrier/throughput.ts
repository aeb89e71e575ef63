import type { Clock } from '../time/clock.ts'

/** How fast a carrier answers while it has something to answer. */
export interface Throughput {
  /** So many answers came, and so many submissions are still unanswered. */
  answered(count: number, unanswered: number): void
  /** Answers a second, as measured last; infinite until then. */
  perSecond(): number
}

const leastMilliseconds = 100

/**
 * Measures from one answer to the next ones, over at least 100 ms or until nothing is unanswered: so a pause in which there was
 * nothing to answer does not count, and a carrier that has become faster is noticed with the next answers.
 */
export function measureThroughput(clock: Clock): Throughput {
  let perSecond = Infinity
  let since: number | undefined
  let count = 0
  return {
    answered(answers, unanswered) {
      const now = clock.now()
      if (since === undefined) since = now
      else count += answers
      const passed = now - since
      if (count > 0 && (passed >= leastMilliseconds || unanswered === 0)) {
        perSecond = (count * 1000) / Math.max(1, passed)
        since = now
        count = 0
      }
      if (unanswered === 0) since = undefined
    },
    perSecond: () => perSecond,
  }
}
