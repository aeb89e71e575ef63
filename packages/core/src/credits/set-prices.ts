import type { AccountId } from '../accounts/account.ts'
import type { Ports } from '../ports.ts'
import type { Credits } from './credits.ts'
import { isPrefix, isPrice } from './prices.ts'

export interface ListedPrice {
  /** Empty: the price of all other numbers. */
  readonly prefix: string
  readonly price: Credits
}

/**
 * The price table, or the prices of one account, by prefix (as text); the price of all other numbers first if there is
 * one.
 */
export const listPrices =
  (ports: Pick<Ports, 'prices'>) =>
  async (of?: AccountId): Promise<readonly ListedPrice[]> =>
    [...((await (of === undefined ? ports.prices.table() : ports.prices.of(of))) ?? [])]
      .map(([prefix, price]) => ({ prefix, price }))
      .sort(byPrefix)

const byPrefix = (a: ListedPrice, b: ListedPrice): number => (a.prefix < b.prefix ? -1 : 1)

/**
 * Sets what one part costs, all accounts or the account `of`, to numbers with this prefix ('' for all others), from 0.0
 * to `priceMax` (ruling 1.4). What was accepted before keeps its price.
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
 * Takes a prefix out of the price table, or of the prices of the account `of`. Without the empty one a number that no
 * other prefix fits has no price, and is refused as invalid (ruling 1.4).
 */
export const removePrice =
  (ports: Pick<Ports, 'prices'>) =>
  async (prefix: string, of?: AccountId): Promise<'removed' | 'no-such-price'> =>
    (await ports.prices.remove(prefix, of)) ? 'removed' : 'no-such-price'
