import type { PushResult } from './webhooks.ts'

/** Why the next try is when it is, or why there is none. Tries exhausted: the list is dead. Test: it is tried once. */
export type NextTryReason = 'delivered' | 'gone' | 'tries-exhausted' | 'test' | 'schedule' | 'retry-after'

const WITHOUT_NEXT = { delivered: 'delivered', gone: 'gone', dead: 'tries-exhausted', failed: 'test' } as const

/** Retry-After decides where it asks for no less than what was waited for. */
export function nextTryReason({ verdict, at, next, answer }: PushResult): NextTryReason {
  if (verdict !== 'retry') return WITHOUT_NEXT[verdict]
  const asked = answer.outcome === 'answered' ? (answer.retryAfterSeconds ?? 0) : 0
  return next !== undefined && asked * 1000 >= next - at ? 'retry-after' : 'schedule'
}
