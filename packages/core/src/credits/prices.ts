import type { AccountId } from '../account/account.ts'
import type { Credits } from './credits.ts'
import type { PriceTable } from './price.ts'

/** Prices of one part of a message by number prefix (ruling 1.4). A new store holds one row: the empty prefix at 1.0. */
export interface Prices {
  /** A change is seen by every process within 5 seconds; by the process that made it at once. */
  table(): Promise<PriceTable>
  /**
   * The prices of one account, which come before those of all (`priceFor`); undefined: it has none. A change is seen as one of the table.
   */
  of(account: AccountId): Promise<PriceTable | undefined>
  /** Sets the price of a prefix ('' is the default); throws a RangeError for less than 0.0 and more than `priceMax`. With `of`, for this account, which is there. */
  set(prefix: string, price: Credits, of?: AccountId): Promise<void>
  /** False: there was no such row. */
  remove(prefix: string, of?: AccountId): Promise<boolean>
}
