import { secondsAfter, type Instant } from '../time/instant.ts'
import type { PushAnswer } from './webhook-client.ts'
import type { PushResult, PushVerdict } from './webhooks.ts'

const minute = 60
const hour = 60 * minute

/** Seconds from each try to the next: ten tries in 75 hours. After the last one the list is dead. */
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

/** An endpoint that has only failed for so long is paused. */
export const failingDays = 5

/** Dead lists and attempts are kept so long. */
export const deadListDays = 30

/** Jitter only adds, at most this share of the pause. */
export const jitterShareMax = 0.1

/** `tries` counts this one. Any 2xx is success; a redirect is a failure. */
export function verdictOf(answer: PushAnswer, tries: number): PushVerdict {
  const status = answer.outcome === 'answered' ? answer.status : 0
  if (status >= 200 && status <= 299) return 'delivered'
  if (status === 410) return 'gone'
  return tries > retryPausesSeconds.length ? 'dead' : 'retry'
}

/**
 * When the next try is, after the try with this number; `chance` is between 0 and 1. A longer Retry-After is honoured,
 * up to the longest pause.
 */
export function nextTry(tries: number, answer: PushAnswer, now: Instant, chance: number): Instant {
  const pause = retryPausesSeconds[tries - 1] ?? 24 * hour
  const asked = answer.outcome === 'answered' ? (answer.retryAfterSeconds ?? 0) : 0
  const seconds = Math.max(pause * (1 + jitterShareMax * chance), Math.min(asked, 24 * hour))
  return secondsAfter(now, seconds)
}

/** Why the next try is when it is, or why there is none. Tries exhausted: the list is dead. Test: it is tried once. */
export type NextTryReason = 'delivered' | 'gone' | 'tries-exhausted' | 'test' | 'schedule' | 'retry-after'

const WITHOUT_NEXT = { delivered: 'delivered', gone: 'gone', dead: 'tries-exhausted', failed: 'test' } as const

/** Retry-After decides where it asks for no less than what was waited for. */
export function nextTryReason({ verdict, at, next, answer }: PushResult): NextTryReason {
  if (verdict !== 'retry') return WITHOUT_NEXT[verdict]
  const asked = answer.outcome === 'answered' ? (answer.retryAfterSeconds ?? 0) : 0
  return next !== undefined && asked * 1000 >= next - at ? 'retry-after' : 'schedule'
}
