import { isPrice, type AccountId, type Credits, type Prices } from '@gateway/core'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export const memoryPrices = (store: MemoryStore): Prices => ({
  table: atomic(() => new Map(store.prices)),
  of: atomic((account) => {
    const own = store.accountPrices.get(account)
    return own === undefined || own.size === 0 ? undefined : new Map(own)
  }),
  set: atomic((prefix, price, of) => {
    if (!isPrice(price)) throw new RangeError(`not a price: ${price} tenths of a credit`)
    if (of !== undefined && !store.accounts.has(of)) throw new Error(`no account ${of}`)
    tableOf(store, of).set(prefix, price)
  }),
  remove: atomic((prefix, of) => tableOf(store, of).delete(prefix)),
})

function tableOf({ prices, accountPrices }: MemoryStore, of: AccountId | undefined): Map<string, Credits> {
  if (of === undefined) return prices
  const own = accountPrices.get(of) ?? new Map<string, Credits>()
  accountPrices.set(of, own)
  return own
}
