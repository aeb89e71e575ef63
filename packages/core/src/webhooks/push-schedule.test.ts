import { instant, secondsAfter } from '../time/instant.ts'
import { nextTryReason, type NextTryReason } from './push-schedule.ts'
import { nextTry, verdictOf } from './push-schedule.ts'
import type { PushAnswer } from './webhook-client.ts'
import type { EventListId } from './webhooks.ts'

const at = instant(Date.UTC(2026, 9, 18, 8))
const answered = (status: number, retryAfterSeconds?: number): PushAnswer => ({
  outcome: 'answered',
  status,
  retryAfterSeconds,
  beginning: '',
  milliseconds: 1,
})
const timeout: PushAnswer = { outcome: 'failed', failure: 'timeout', milliseconds: 1 }

test.each<[string, PushAnswer, number, number, NextTryReason]>([
  ['a success', answered(204), 3, 0, 'delivered'],
  ['a success that asks to wait', answered(200, 60), 1, 0, 'delivered'],
  ['410', answered(410), 10, 0, 'gone'],
  ['a failure', answered(500), 1, 0.5, 'schedule'],
  ['a time-out', timeout, 9, 1, 'schedule'],
  ['a wait that is shorter than the pause', answered(503, 4), 1, 0, 'schedule'],
  ['a wait within the jitter', answered(503, 5), 1, 1, 'schedule'],
  ['a longer wait', answered(429, 60), 1, 1, 'retry-after'],
  ['a wait beyond the longest pause', answered(503, 10 * 86_400), 1, 1, 'retry-after'],
  ['the last try', answered(500), 10, 0, 'tries-exhausted'],
  ['the last try, with a wait', answered(503, 60), 10, 0, 'tries-exhausted'],
])('%s', (_what, answer, tries, chance, reason) => {
  const verdict = verdictOf(answer, tries)
  const next = verdict === 'retry' ? nextTry(tries, answer, at, chance) : undefined
  expect(nextTryReason({ list: 'list-1' as EventListId, tries, at, answer, verdict, next })).toBe(reason)
})

test('a Retry-After equal to the pause is the reason of the next time', () => {
  const next = secondsAfter(at, 5)
  const answer = answered(503, 5)
  expect(nextTryReason({ list: 'list-1' as EventListId, tries: 1, at, answer, verdict: 'retry', next })).toBe(
    'retry-after',
  )
})
