import type { AccountId } from '../accounts/account.ts'
import type { Ports } from '../ports.ts'
import type { Credits } from './credits.ts'
import { isPrefix, isPrice } from './prices.ts'

export interface ListedPrice {
  /** Number prefix. The empty one stands for all other numbers. */
  readonly prefix: string
  readonly price: Credits
}

/**
 * Lists the general prices, or those of the account `of`, sorted by prefix as text. The price of all other numbers
 * comes first if there is one.
 */
export const listPrices =
  (ports: Pick<Ports, 'prices'>) =>
  async (of?: AccountId): Promise<readonly ListedPrice[]> =>
    [...((await (of === undefined ? ports.prices.table() : ports.prices.of(of))) ?? [])]
      .map(([prefix, price]) => ({ prefix, price }))
      .sort(byPrefix)

const byPrefix = (a: ListedPrice, b: ListedPrice): number => (a.prefix < b.prefix ? -1 : 1)

/**
 * Sets the price of one part to numbers with this prefix ('' for all other numbers), for all accounts or for the
 * account `of`. The price is 0.0 to `priceMax` (ruling 1.4). Messages accepted before keep their price.
 */
export const setPrice =
  (ports: Pick<Ports, 'prices' | 'accounts'>) =>
  async (
    prefix: string,
    price: Credits,
    of?: AccountId,
  ): Promise<'set' | 'invalid-prefix' | 'invalid-price' | 'no-such-account'> => {
    if (!isPrefix(prefix)) return 'invalid-prefix'
    if (!isPrice(price)) return 'invalid-price'
    if (of !== undefined && (await ports.accounts.find(of)) === undefined) return 'no-such-account'
    await ports.prices.set(prefix, price, of)
    return 'set'
  }

/**
 * Removes a prefix from the general prices, or from those of the account `of`. After the empty prefix is removed, a
 * number without a matching prefix has no price and is refused as invalid (ruling 1.4).
 */
export const removePrice =
  (ports: Pick<Ports, 'prices'>) =>
  async (prefix: string, of?: AccountId): Promise<'removed' | 'no-such-price'> =>
    (await ports.prices.remove(prefix, of)) ? 'removed' : 'no-such-price'
