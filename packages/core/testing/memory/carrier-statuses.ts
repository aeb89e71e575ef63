import type { CarrierStatuses, ToldCarrier } from '@gateway/core'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

const dayMilliseconds = 86_400_000

export const memoryCarrierStatuses = (store: MemoryStore): CarrierStatuses => ({
  tell: atomic((process, reports) => {
    const now = store.clock.now()
    const others = store.carrierStatuses.filter(
      (told) => told.process.id !== process.id && now - told.toldAt < dayMilliseconds,
    )
    store.carrierStatuses = [...others, ...reports.map((report) => ({ ...report, process, toldAt: now }))]
  }),
  list: atomic((staleSeconds) => {
    const now = store.clock.now()
    const judged = store.carrierStatuses.map((told): ToldCarrier => ({
      ...told,
      isStale: now - told.toldAt >= staleSeconds * 1000,
    }))
    return judged.sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
  }),
})

const orderOf = ({ carrier, process }: ToldCarrier): string => [carrier, process.host, process.id].join('\0')
