/** Median and range of several rounds of one measurement. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** Returns the spread of the rounds. Throws if there are none. */
export function spreadOf(rounds: readonly number[]): Spread {
  const sorted = [...rounds].sort((a, b) => a - b)
  const [min] = sorted
  const max = sorted.at(-1)
  if (min === undefined || max === undefined) throw new Error('nothing was measured')
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? min
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? min) + upper) / 2
  return { median, min, max }
}

/**
 * Returns the `p`-quantile (`p` from 0 to 1): the smallest value such that at least the share `p` of all values is not
 * larger. Returns NaN without values.
 */
export const percentile = (sorted: readonly number[] | Float64Array, p: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * p) - 1)] ?? NaN

/** Divides each value of `these` by the value of the same round in `those`. */
export const ratios = (these: readonly number[], those: readonly number[]): number[] =>
  these.map((value, round) => value / (those[round] ?? NaN))
