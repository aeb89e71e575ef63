import type { Brand } from '../brand.ts'

/**
 * An amount of credits as a whole number of tenths (ruling 1.3), so that sums are exact. Balances are never negative;
 * entries of a ledger may be. Always a safe integer: what would not be throws instead of losing money to rounding.
 */
export type Credits = Brand<number, 'Credits'>

const creditsMax = 1_000_000_000_000

/** Throws a RangeError if `tenths` is not a safe integer. */
export function credits(tenths: number): Credits {
  if (Number.isSafeInteger(tenths)) return (tenths + 0) as Credits // -0 becomes 0
  throw new RangeError(`not a whole number of tenths of a credit: ${tenths}`)
}

/** Throws a RangeError beyond 2^53 tenths. */
export const plus = (a: Credits, b: Credits): Credits => credits(a + b)

/** May be negative. Throws a RangeError beyond 2^53 tenths. */
export const minus = (a: Credits, b: Credits): Credits => credits(a - b)

/** `factor` must be whole. Throws a RangeError for a fraction of a tenth and beyond 2^53 tenths. */
export const times = (amount: Credits, factor: number): Credits => credits(amount * factor)

/**
 * Reads what an operator types: `12`, `12.5`, `-3.0`. ASCII digits with at most one decimal, no plus sign, no exponent,
 * no white space, at most 10^12 credits either way. `undefined` for everything else.
 */
export function parseCredits(text: string): Credits | undefined {
  const fields = /^(-?)([0-9]{1,13})(?:\.([0-9]))?$/.exec(text)
  if (fields === null) return undefined
  const [, sign = '', whole = '', tenth = '0'] = fields
  const tenths = Number(whole + tenth)
  if (tenths > creditsMax * 10) return undefined
  return credits(sign === '-' ? -tenths : tenths)
}

/** Always exactly one decimal (ruling 1.3): `100.0`, `-0.5`. */
export function formatCredits(amount: Credits): string {
  const tenths = Math.abs(amount)
  const tenth = tenths % 10
  return `${amount < 0 ? '-' : ''}${(tenths - tenth) / 10}.${tenth}`
}

/** Whole credits, rounded half up (ruling 1.3): 2.5 is 3, -2.5 is -2. */
export function wholeCredits(amount: Credits): number {
  const above = ((amount % 10) + 10) % 10
  return (amount - above) / 10 + (above >= 5 ? 1 : 0)
}

/** `taken[i]` says whether `costs[i]` was paid; `balance` is what is left. */
export interface Spending {
  readonly taken: readonly boolean[]
  readonly balance: Credits
}

/**
 * Pays `costs` in their order, each that still fits: after one that does not fit a later, cheaper one may (ruling
 * 1.11). The balance left is never negative unless it was before. Throws a RangeError for a negative cost, which would
 * make money.
 */
export function spend(balance: Credits, costs: readonly Credits[]): Spending {
  let left: number = balance
  const taken = costs.map((cost) => {
    if (cost < 0) throw new RangeError(`a negative cost: ${cost} tenths`)
    if (cost > left) return false
    left -= cost
    return true
  })
  return { taken, balance: credits(left) }
}
