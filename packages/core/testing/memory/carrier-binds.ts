import type { CarrierBinds, CarrierId } from '@gateway/core'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export const memoryCarrierBinds = (store: MemoryStore): CarrierBinds => {
  const live = (carrier: CarrierId) =>
    [...(store.carrierBinds.get(carrier) ?? [])].filter(([, { until }]) => until > store.clock.now())
  const keep = (carrier: CarrierId, entries: readonly Readonly<ReturnType<typeof live>[number]>[]): void => {
    store.carrierBinds.set(carrier, new Map(entries))
  }
  const until = (seconds: number): number => store.clock.now() + seconds * 1000

  return {
    lease: atomic((carrier, holder, { count, max, seconds }) => {
      const held = live(carrier)
      const free = Array.from({ length: max }, (_, at) => at + 1).filter((n) => held.every(([taken]) => taken !== n))
      const numbers = free.slice(0, Math.max(0, Math.min(count, max - held.length)))
      keep(carrier, [...held, ...numbers.map((n) => [n, { holder, until: until(seconds) }] as const)])
      const ends = held.filter(([, bind]) => bind.holder !== holder).map(([, bind]) => bind.until - store.clock.now())
      const isShort = numbers.length < count && ends.length > 0
      return { numbers, freeInMilliseconds: isShort ? Math.min(...ends) : undefined }
    }),
    renew: atomic((carrier, holder, seconds) => {
      const renewed = live(carrier).map(([n, bind]) =>
        bind.holder === holder ? ([n, { holder, until: until(seconds) }] as const) : ([n, bind] as const),
      )
      keep(carrier, renewed)
      return renewed.flatMap(([n, bind]) => (bind.holder === holder ? [n] : []))
    }),
    release: atomic((carrier, holder, numbers) => {
      keep(
        carrier,
        live(carrier).filter(([n, bind]) => bind.holder !== holder || !numbers.includes(n)),
      )
    }),
  }
}
