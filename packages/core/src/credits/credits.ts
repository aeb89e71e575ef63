import type { Brand } from '../brand.ts'

/**
 * Amount of credits in whole tenths (ruling 1.3), so that sums are exact. Balances are never negative; entries of a
 * ledger may be. It is always a safe integer: an operation whose result would not be one throws.
 */
export type Credits = Brand<number, 'Credits'>

const creditsMax = 1_000_000_000_000

/** Returns an amount of `tenths` tenths. Throws a RangeError if that is not a safe integer. */
export function credits(tenths: number): Credits {
  if (Number.isSafeInteger(tenths)) return (tenths + 0) as Credits // Adding 0 turns -0 into 0.
  throw new RangeError(`amount is not an integer number of tenths of a credit: ${tenths}`)
}

/** Adds two amounts. Throws a RangeError beyond 2^53 tenths. */
export const plus = (a: Credits, b: Credits): Credits => credits(a + b)

/** Subtracts `b` from `a`; the result may be negative. Throws a RangeError beyond 2^53 tenths. */
export const minus = (a: Credits, b: Credits): Credits => credits(a - b)

/** Multiplies an amount by an integer. Throws a RangeError if the result has a fraction or exceeds 2^53 tenths. */
export const times = (amount: Credits, factor: number): Credits => credits(amount * factor)

/**
 * Parses an amount that an operator types: `12`, `12.5`, `-3.0`. Accepts ASCII digits with at most one decimal, without
 * plus sign, exponent or white space, up to 10^12 credits in either direction. Returns undefined for any other text.
 */
export function parseCredits(text: string): Credits | undefined {
  const fields = /^(-?)([0-9]{1,13})(?:\.([0-9]))?$/.exec(text)
  if (fields === null) return undefined
  const [, sign = '', whole = '', tenth = '0'] = fields
  const tenths = Number(whole + tenth)
  if (tenths > creditsMax * 10) return undefined
  return credits(sign === '-' ? -tenths : tenths)
}

/** Formats an amount with exactly one decimal (ruling 1.3): `100.0`, `-0.5`. */
export function formatCredits(amount: Credits): string {
  const tenths = Math.abs(amount)
  const tenth = tenths % 10
  return `${amount < 0 ? '-' : ''}${(tenths - tenth) / 10}.${tenth}`
}

/** Rounds an amount half up to whole credits (ruling 1.3): 2.5 becomes 3, -2.5 becomes -2. */
export function wholeCredits(amount: Credits): number {
  const above = ((amount % 10) + 10) % 10
  return (amount - above) / 10 + (above >= 5 ? 1 : 0)
}

/** Result of `spend`: `paid[i]` is true if `costs[i]` was paid, and `balance` is the remaining balance. */
export interface Spending {
  readonly paid: readonly boolean[]
  readonly balance: Credits
}

/**
 * Pays `costs` in order. Skips each cost that exceeds the remaining balance, so that a later, cheaper one may still be
 * paid (ruling 1.11). The remaining balance is not negative unless `balance` was. Throws a RangeError for a negative
 * cost.
 */
export function spend(balance: Credits, costs: readonly Credits[]): Spending {
  let remaining: number = balance
  const paid = costs.map((cost) => {
    if (cost < 0) throw new RangeError(`the cost of ${cost} tenths is negative`)
    if (cost > remaining) return false
    remaining -= cost
    return true
  })
  return { paid, balance: credits(remaining) }
}
