import { secondsAfter, type Instant } from '../time/instant.ts'
import type { PushAnswer } from './webhook-client.ts'
import type { PushResult, PushVerdict } from './webhooks.ts'

const minute = 60
const hour = 60 * minute

/** Seconds from each attempt to the next: ten attempts in 75 hours. After the last one the list is dead. */
export const retryPausesSeconds: readonly number[] = [
  5,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]

/** Days without a successful request after which an endpoint is paused. */
export const failingDays = 5

/** Days for which dead lists and attempts are kept. */
export const deadListDays = 30

/** Maximum jitter, as a share of the pause. Jitter only lengthens a pause. */
export const jitterShareMax = 0.1

/** Returns the consequence of an attempt. `tries` includes it. Any 2xx is success; a redirect is a failure. */
export function verdictOf(answer: PushAnswer, tries: number): PushVerdict {
  const status = answer.outcome === 'answered' ? answer.status : 0
  if (status >= 200 && status <= 299) return 'delivered'
  if (status === 410) return 'gone'
  return tries > retryPausesSeconds.length ? 'dead' : 'retry'
}

/**
 * Returns the time of the attempt that follows attempt number `tries`. `chance` is between 0 and 1. A Retry-After that
 * is longer than the regular pause is honoured, up to the longest pause of the schedule.
 */
export function nextTry(tries: number, answer: PushAnswer, now: Instant, chance: number): Instant {
  const pause = retryPausesSeconds[tries - 1] ?? 24 * hour
  const requested = answer.outcome === 'answered' ? (answer.retryAfterSeconds ?? 0) : 0
  const seconds = Math.max(pause * (1 + jitterShareMax * chance), Math.min(requested, 24 * hour))
  return secondsAfter(now, seconds)
}

/**
 * Reason for the time of the next attempt, or why there is no next attempt. `tries-exhausted`: the list is dead.
 * `test`: a test event is tried only once.
 */
export type NextTryReason = 'delivered' | 'gone' | 'tries-exhausted' | 'test' | 'schedule' | 'retry-after'

const WITHOUT_NEXT = { delivered: 'delivered', gone: 'gone', dead: 'tries-exhausted', failed: 'test' } as const

/** Returns the reason. It is 'retry-after' if Retry-After requested a pause at least as long as the actual one. */
export function nextTryReason({ verdict, at, next, answer }: PushResult): NextTryReason {
  if (verdict !== 'retry') return WITHOUT_NEXT[verdict]
  const requested = answer.outcome === 'answered' ? (answer.retryAfterSeconds ?? 0) : 0
  return next !== undefined && requested * 1000 >= next - at ? 'retry-after' : 'schedule'
}
