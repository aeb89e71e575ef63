import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { secondsAfter, type Instant, type LoginFailures, type OthersLoginFailures } from '@gateway/core'
import type { FailureCounts } from './failure-counts.ts'

/** Users whose failures one exchange tells. More than can be hashed in a second; what fails beyond them counts here only. */
const keysMax = 100
const pauseMs = 1000

/**
 * Returns what tells other processes of a failure, and lets `counts` learn of theirs with the same key: at once, but at most once a second
 * and never two at a time. Nobody waits for it. An exchange that fails is not repeated: its failures count here only.
 */
export function exchangedFailures(
  store: LoginFailures,
  counts: Pick<FailureCounts, 'learn'>,
  seconds: number,
  paused: () => Promise<unknown> = () => delay(pauseMs, undefined, { ref: false }),
): (key: string, at: Instant) => void {
  const by = randomUUID()
  let pending = new Map<string, { readonly failures: number; readonly at: Instant }>()
  let isExchanging = false

  /** Others' failures are as long ago as they are for the store. */
  const timesOf = (others: readonly OthersLoginFailures[], now: Instant): readonly Instant[] =>
    others.flatMap(({ failures, seconds: left }) =>
      Array<Instant>(failures).fill(secondsAfter(now, Math.min(left - seconds, 0))),
    )

  async function exchange(): Promise<void> {
    const told = [...pending]
    pending = new Map()
    const others = await store.exchange(
      by,
      told.map(([key, { failures }]) => ({ key, failures })),
      seconds,
    )
    for (const [i, [key, { at }]] of told.entries()) counts.learn(key, timesOf(others[i] ?? [], at))
  }

  async function exchangeAll(): Promise<void> {
    isExchanging = true
    while (pending.size > 0) await Promise.allSettled([exchange(), paused()])
    isExchanging = false
  }

  return (key, at) => {
    const known = pending.get(key)
    if (known === undefined && pending.size >= keysMax) return
    pending.set(key, { failures: (known?.failures ?? 0) + 1, at })
    if (!isExchanging) void exchangeAll()
  }
}
