import { secondsAfter, type LoginFailures } from '@gateway/core'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export const memoryLoginFailures = ({ clock, loginFailures }: MemoryStore): LoginFailures => ({
  count: atomic((key, { failuresMax, seconds }) => {
    const now = clock.now()
    const counted = () =>
      loginFailures
        .filter((failure) => failure.key === key && failure.until > now)
        .map(({ until }) => until)
        .sort((a, b) => a - b)
        .slice(-failuresMax)
    const isWithinLimit = counted().length < failuresMax
    if (isWithinLimit) loginFailures.push({ key, until: secondsAfter(now, seconds) })
    const all = counted()
    return { isWithinLimit, waitSeconds: all.length < failuresMax ? 0 : ((all[0] ?? now) - now) / 1000 }
  }),
})
