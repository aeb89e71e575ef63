import type { AccountId } from '@gateway/core/accounts'
import { isPrice, type Credits, type PriceTable, type Prices } from '@gateway/core/credits'
import { createCache } from '../cache.ts'
import { notifyOthers } from '../changes.ts'
import type { Context } from '../context.ts'
import { hasRow } from '../query-parts.ts'

/** Maximum number of cached price tables of accounts. */
const accountsMax = 10_000

export function postgresPrices({ pools: { kysely }, settings, changes }: Context): Prices {
  const tableOf = (rows: readonly { readonly prefix: string; readonly price: Credits }[]): PriceTable =>
    new Map(rows.map(({ prefix, price }) => [prefix, price]))

  /**
   * Loads the general prices and the ids of the accounts that have prices of their own. The other accounts need no
   * lookup.
   */
  async function load(): Promise<{ readonly table: PriceTable; readonly owners: ReadonlySet<AccountId> }> {
    changes.listen()
    const owners = await kysely.selectFrom('account_price').select('account_id').distinct().execute()
    const table = tableOf(await kysely.selectFrom('price').selectAll().execute())
    return { table, owners: new Set(owners.map(({ account_id }) => account_id)) }
  }
  const loadOf = async (account: AccountId): Promise<PriceTable> =>
    tableOf(await kysely.selectFrom('account_price').selectAll().where('account_id', '=', account).execute())

  const cache = createCache({ seconds: settings.cacheSeconds, entriesMax: 1, load })
  const own = createCache({ seconds: settings.cacheSeconds, entriesMax: accountsMax, load: loadOf })
  changes.onChange(() => {
    cache.clear()
    own.clear()
  })

  async function set(prefix: string, price: Credits, of: AccountId | undefined): Promise<void> {
    if (!isPrice(price)) throw new RangeError(`not a price: ${price} tenths of a credit`)
    if (of === undefined) {
      await kysely
        .insertInto('price')
        .values({ prefix, price })
        .onConflict((conflict) => conflict.column('prefix').doUpdateSet({ price }))
        .returning(notifyOthers.as('notified'))
        .execute()
      return
    }
    await kysely
      .insertInto('account_price')
      .values({ account_id: of, prefix, price })
      .onConflict((conflict) => conflict.columns(['account_id', 'prefix']).doUpdateSet({ price }))
      .returning(notifyOthers.as('notified'))
      .execute()
  }

  const remove = (prefix: string, of: AccountId | undefined): Promise<boolean> =>
    hasRow(
      of === undefined
        ? kysely.deleteFrom('price').where('prefix', '=', prefix).returning(notifyOthers.as('notified'))
        : kysely
            .deleteFrom('account_price')
            .where('account_id', '=', of)
            .where('prefix', '=', prefix)
            .returning(notifyOthers.as('notified')),
    )

  async function ofAccount(account: AccountId): Promise<PriceTable | undefined> {
    const table = (await cache.get('all')).owners.has(account) ? await own.get(account) : undefined
    return table === undefined || table.size === 0 ? undefined : table
  }
  return {
    table: async () => (await cache.get('all')).table,
    of: ofAccount,
    set: (prefix, price, of) => changes.around(set(prefix, price, of)),
    remove: (prefix, of) => changes.around(remove(prefix, of)),
  }
}
