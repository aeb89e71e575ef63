import { isPrice, type Prices } from '@gateway/core'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export const memoryPrices = (store: MemoryStore): Prices => ({
  table: atomic(() => new Map(store.prices)),
  set: atomic((prefix, price) => {
    if (!isPrice(price)) throw new RangeError(`not a price: ${price} tenths of a credit`)
    store.prices.set(prefix, price)
  }),
  remove: atomic((prefix) => store.prices.delete(prefix)),
})
