/**
 * Counts of values: for each bound, the values above the previous bound and up to this one; the last count is for
 * values above all bounds.
 */
export interface HistogramCounts {
  readonly bounds: readonly number[]
  readonly counts: readonly number[]
  readonly sum: number
}

export interface Histogram {
  readonly observe: (value: number) => void
  readonly read: () => HistogramCounts
}

/** Creates a histogram. Bounds are in ascending order. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = Array.from({ length: bounds.length + 1 }, () => 0)
  let sum = 0
  return {
    observe(value) {
      let at = 0
      while (at < bounds.length && value > (bounds[at] ?? 0)) at++
      counts[at] = (counts[at] ?? 0) + 1
      sum += value
    },
    read: () => ({ bounds, counts: [...counts], sum }),
  }
}
