import type { AccountId } from '../account/account.ts'
import type { Ports } from '../ports.ts'
import type { Credits } from './credits.ts'

export interface ListedPrice {
  /** Empty: the price of all other numbers. */
  readonly prefix: string
  readonly price: Credits
}

/** The price table, or the prices of one account, by prefix (as text); the price of all other numbers first if there is one. */
export const listPrices =
  (ports: Pick<Ports, 'prices'>) =>
  async (of?: AccountId): Promise<readonly ListedPrice[]> =>
    [...((await (of === undefined ? ports.prices.table() : ports.prices.of(of))) ?? [])]
      .map(([prefix, price]) => ({ prefix, price }))
      .sort(byPrefix)

const byPrefix = (a: ListedPrice, b: ListedPrice): number => (a.prefix < b.prefix ? -1 : 1)
