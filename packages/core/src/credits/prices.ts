import type { Credits } from './credits.ts'
import type { PriceTable } from './price.ts'

/** Prices of one part of a message by number prefix (ruling 1.4). A new store holds one row: the empty prefix at 1.0. */
export interface Prices {
  /** A change is seen by every process within 5 seconds; by the process that made it at once. */
  table(): Promise<PriceTable>
  /** Sets the price of a prefix ('' is the default); throws a RangeError for less than 0.0 and more than `priceMax`. */
  set(prefix: string, price: Credits): Promise<void>
  /** False: there was no such row. */
  remove(prefix: string): Promise<boolean>
}
