/** What several rounds of the same measurement say together. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** Throws if there are no rounds. */
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

/** The smallest value that at least the share `p` (0 to 1) of all values does not exceed. NaN if there are none. */
export const percentile = (sorted: readonly number[] | Float64Array, p: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * p) - 1)] ?? NaN

/** Each of `these` divided by that of `those` of the same round. */
export const ratios = (these: readonly number[], those: readonly number[]): number[] =>
  these.map((value, round) => value / (those[round] ?? NaN))
