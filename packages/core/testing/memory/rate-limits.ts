import type { Instant, RateLimits } from '@gateway/core'
import { useRate } from '../contracts/specification/accounts.ts'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export function memoryRateLimits({ clock }: MemoryStore): RateLimits {
  const used = new Map<string, Instant>()
  return {
    take: atomic((account, what, count, perSecond) => {
      const key = `${account} ${what}`
      const next = useRate(used.get(key), count, perSecond, clock.now())
      if (!('paidOff' in next)) return next
      used.set(key, next.paidOff)
      return 'taken'
    }),
  }
}
