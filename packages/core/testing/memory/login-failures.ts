import { othersFailuresMax, secondsAfter, sharedSecondsMax, type LoginFailures } from '@gateway/core'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export const memoryLoginFailures = ({ clock, loginFailures }: MemoryStore): LoginFailures => ({
  exchange: atomic((by, failed, seconds) => {
    const now = clock.now()
    const until = secondsAfter(now, Math.min(seconds, sharedSecondsMax))
    const others = failed.map(({ key }) =>
      loginFailures
        .filter((told) => told.key === key && told.by !== by && told.until > now)
        .sort((a, b) => b.until - a.until)
        .slice(0, othersFailuresMax)
        .map((told) => ({ failures: told.failures, seconds: (told.until - now) / 1000 })),
    )
    for (const one of failed) loginFailures.push({ ...one, by, until })
    return others
  }),
})
