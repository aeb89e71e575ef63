import { credits, isPrice, type Credits, type PriceTable, type Prices } from '@gateway/core'
import { notifyOthers } from '../changes.ts'
import type { Context } from '../context.ts'
import { createCache } from '../cache.ts'

export function postgresPrices({ pools: { kysely }, settings, changes }: Context): Prices {
  async function load(): Promise<PriceTable> {
    changes.listen()
    const rows = await kysely.selectFrom('price').selectAll().execute()
    return new Map(rows.map(({ prefix, price }) => [prefix, credits(price)]))
  }
  const cache = createCache({ seconds: settings.cacheSeconds, entriesMax: 1, load, keep: () => true })
  changes.onChange(() => cache.clear())

  async function set(prefix: string, price: Credits): Promise<void> {
    if (!isPrice(price)) throw new RangeError(`not a price: ${price} tenths of a credit`)
    await kysely
      .insertInto('price')
      .values({ prefix, price })
      .onConflict((conflict) => conflict.column('prefix').doUpdateSet({ price }))
      .returning(notifyOthers.as('told'))
      .execute()
  }

  async function remove(prefix: string): Promise<boolean> {
    const removed = kysely.deleteFrom('price').where('prefix', '=', prefix)
    return (await removed.returning(notifyOthers.as('told')).execute()).length > 0
  }
  return {
    table: () => cache.get('all'),
    set: (prefix, price) => changes.around(set(prefix, price)),
    remove: (prefix) => changes.around(remove(prefix)),
  }
}
