import { credits, type Credits } from './credits.ts'

/** `taken[i]` says whether `costs[i]` was paid; `balance` is what is left. */
export interface Spending {
  readonly taken: readonly boolean[]
  readonly balance: Credits
}

/**
 * Pays `costs` in their order, each that still fits: after one that does not fit a later, cheaper one may (ruling 1.11). The
 * balance left is never negative unless it was before. Throws a RangeError for a negative cost, which would make money.
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
