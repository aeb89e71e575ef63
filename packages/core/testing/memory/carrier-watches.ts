import type { Fleet } from '@gateway/core/fleet'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

/** Returns the part of the port that is about the watches of operators. */
export function memoryCarrierWatches(
  store: MemoryStore,
): Pick<Fleet, 'renewWatch' | 'endWatch' | 'reportTraffic' | 'takeTraffic'> {
  const isOver = (id: string): boolean => (store.carrierWatches.get(id)?.until ?? -Infinity) <= store.clock.now()
  const notifyAll = (): void => {
    for (const changed of store.carrierListeners) changed()
  }
  return {
    renewWatch: atomic((watch, seconds) => {
      for (const id of store.carrierWatches.keys()) if (isOver(id)) store.carrierWatches.delete(id)
      const reported = store.carrierWatches.get(watch.id)?.reports ?? []
      store.carrierWatches.set(watch.id, { watch, until: store.clock.now() + seconds * 1000, reports: reported })
      notifyAll()
    }),
    endWatch: atomic((id) => {
      store.carrierWatches.delete(id)
      notifyAll()
    }),
    reportTraffic: atomic((traffic) => {
      for (const one of traffic) if (!isOver(one.watch)) store.carrierWatches.get(one.watch)?.reports.push(one)
    }),
    takeTraffic: atomic((id, countMax) => store.carrierWatches.get(id)?.reports.splice(0, countMax) ?? []),
  }
}
