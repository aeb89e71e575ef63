import { toldRatesMax, type AccountId, type AccountRate, type AccountRates } from '@gateway/core'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

const forgottenMilliseconds = 60_000

export const memoryAccountRates = ({ clock, accountRates }: MemoryStore): AccountRates => ({
  tell: atomic((by, rates) => {
    const now = clock.now()
    for (const [process, { at }] of accountRates) if (now - at > forgottenMilliseconds) accountRates.delete(process)
    accountRates.set(by, { at: now, rates: rates.slice(0, toldRatesMax) })
  }),
  list: atomic((seconds) => {
    const now = clock.now()
    const sums = new Map<AccountId, AccountRate>()
    for (const { at, rates } of accountRates.values())
      for (const { account, requests, messages } of now - at < seconds * 1000 ? rates : []) {
        const sum = sums.get(account) ?? { requests: 0, messages: 0 }
        sums.set(account, { account, requests: sum.requests + requests, messages: sum.messages + messages })
      }
    return [...sums.values()].sort(
      (a, b) => b.requests - a.requests || b.messages - a.messages || a.account - b.account,
    )
  }),
})
