import { createHistogram, type Histogram, type HistogramCounts } from '@gateway/core/fleet'

/** Response times of the database since the start, in seconds. */
export interface Timings {
  readonly took: (statement: { readonly name: string; readonly text: string }, milliseconds: number) => void
  /** Times of prepared statements by name. Outside a transaction they include the commit. */
  readonly statements: () => readonly (readonly [name: string, counts: HistogramCounts])[]
  /** Times of commits of transactions. */
  readonly commits: () => HistogramCounts
}

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

export function createTimings(): Timings {
  const commits = createHistogram(bounds)
  const byName = new Map<string, Histogram>()
  return {
    took({ name, text }, milliseconds) {
      if (name !== '') histogramOf(name).observe(milliseconds / 1000)
      else if (text === 'commit') commits.observe(milliseconds / 1000)
    },
    statements: () => Array.from(byName, ([name, histogram]) => [name, histogram.read()] as const),
    commits: () => commits.read(),
  }

  function histogramOf(name: string): Histogram {
    const known = byName.get(name)
    if (known !== undefined) return known
    const made = createHistogram(bounds)
    byName.set(name, made)
    return made
  }
}
