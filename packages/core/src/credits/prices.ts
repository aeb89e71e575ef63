import type { AccountId } from '../accounts/account.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import { credits, type Credits } from './credits.ts'

/** The price of one part by number prefix (digits); the empty prefix is the price of all other numbers (ruling 1.4). */
export type PriceTable = ReadonlyMap<string, Credits>

/** The highest price of one part, 30 million credits: that of seven parts is still a number of 32 bits in tenths. */
export const priceMax: Credits = credits(300_000_000)

/** Whether one part may cost this: 0.0 to `priceMax`. */
export const isPrice = (price: Credits): boolean => price >= 0 && price <= priceMax

/** A prefix is 1 to 15 digits, the first not 0, as numbers are written; the empty one stands for all other numbers. */
export const isPrefix = (text: string): boolean => text === '' || /^[1-9][0-9]{0,14}$/.test(text)

/**
 * The price of one part to `number`: that of its longest prefix in `table`; `undefined` if it has none (ruling 1.4).
 * Only prefixes as long as the table has them are tried: 0.02 µs with one row instead of 0.25, as with 3000.
 */
export function priceOf(table: PriceTable, number: Msisdn): Credits | undefined {
  for (let length = Math.min(number.length, longestPrefix(table)); length >= 0; length--) {
    const price = table.get(number.slice(0, length))
    if (price !== undefined) return price
  }
  return undefined
}

/**
 * What one part costs an account: by its own prices, if one fits, however short its prefix; else by those of all
 * (ruling 1.4).
 */
export const priceFor = (own: PriceTable | undefined, all: PriceTable, number: Msisdn): Credits | undefined =>
  (own && priceOf(own, number)) ?? priceOf(all, number)

const longest = new WeakMap<PriceTable, number>()

/** A table is not changed once it is there. */
function longestPrefix(table: PriceTable): number {
  let length = longest.get(table)
  if (length === undefined) {
    length = Array.from(table.keys()).reduce((max, prefix) => Math.max(max, prefix.length), 0)
    longest.set(table, length)
  }
  return length
}

/**
 * Prices of one part of a message by number prefix (ruling 1.4). A new store holds one row: the empty prefix at 1.0.
 */
export interface Prices {
  /** A change is seen by every process within 5 seconds; by the process that made it at once. */
  table(): Promise<PriceTable>
  /**
   * The prices of one account, which come before those of all (`priceFor`); undefined: it has none. A change is seen as
   * one of the table.
   */
  of(account: AccountId): Promise<PriceTable | undefined>
  /**
   * Sets the price of a prefix ('' is the default); throws a RangeError for less than 0.0 and more than `priceMax`.
   * With `of`, for this account, which is there.
   */
  set(prefix: string, price: Credits, of?: AccountId): Promise<void>
  /** False: there was no such row. */
  remove(prefix: string, of?: AccountId): Promise<boolean>
}
