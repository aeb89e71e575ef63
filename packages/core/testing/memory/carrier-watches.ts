import type { CarrierWatches } from '@gateway/core/fleet'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export function memoryCarrierWatches(store: MemoryStore): CarrierWatches {
  const isOver = (id: string): boolean => (store.carrierWatches.get(id)?.until ?? -Infinity) <= store.clock.now()
  const tellAll = (): void => {
    for (const changed of store.carrierListeners) changed()
  }
  return {
    renew: atomic((watch, seconds) => {
      for (const id of store.carrierWatches.keys()) if (isOver(id)) store.carrierWatches.delete(id)
      const reported = store.carrierWatches.get(watch.id)?.reports ?? []
      store.carrierWatches.set(watch.id, { watch, until: store.clock.now() + seconds * 1000, reports: reported })
      tellAll()
    }),
    end: atomic((id) => {
      store.carrierWatches.delete(id)
      tellAll()
    }),
    tell: atomic((pdus) => {
      for (const pdu of pdus) if (!isOver(pdu.watch)) store.carrierWatches.get(pdu.watch)?.reports.push(pdu)
    }),
    take: atomic((id, countMax) => store.carrierWatches.get(id)?.reports.splice(0, countMax) ?? []),
  }
}
