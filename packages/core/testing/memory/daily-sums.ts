import type { DailySum, DailySums } from '@gateway/core/messages'
import { gatewayDay, type GatewayDay } from '@gateway/core/time'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

/** Creates the adapter of `DailySums`. It counts the messages at each call instead of storing sums. */
export function memoryDailySums(store: MemoryStore): DailySums {
  const decided = (from: GatewayDay) =>
    [...store.messages.values()].flatMap(({ send, decision }) => {
      if (decision === undefined || send.confirmation) return []
      const day = gatewayDay(decision.handedOver)
      return day < from ? [] : [{ account: send.account, day, carrier: decision.carrier, code: decision.code }]
    })

  function counted<Row extends object>(rows: readonly Row[]): readonly (Row & { readonly messages: number })[] {
    const counts = new Map<string, Row & { messages: number }>()
    for (const row of rows) {
      const count = counts.get(JSON.stringify(row)) ?? { ...row, messages: 0 }
      count.messages += 1
      counts.set(JSON.stringify(row), count)
    }
    return [...counts.values()]
  }
  const byName = (a: Omit<DailySum, 'day'>, b: Omit<DailySum, 'day'>) =>
    (a.carrier ?? '') < (b.carrier ?? '') ? -1 : (a.carrier ?? '') > (b.carrier ?? '') ? 1 : a.code - b.code

  return {
    ofAccount: atomic((account, from) =>
      counted(decided(from).flatMap(({ account: owner, ...row }) => (owner === account ? [row] : []))).toSorted(
        (a, b) => a.day - b.day || byName(a, b),
      ),
    ),
    byCarrier: atomic((from) =>
      counted(decided(from).map(({ carrier, code }) => ({ carrier, code }))).toSorted(byName),
    ),
    busiest: atomic((from, limit) =>
      counted(decided(from).map(({ account }) => ({ account })))
        .toSorted((a, b) => b.messages - a.messages || a.account - b.account)
        .slice(0, limit),
    ),
    fold: atomic(() => 0),
    check: atomic(() => []),
  }
}
