/** What happened in a run, counted, and what should not have happened, in sentences. */
export interface Figures {
  count(what: string, by?: number): void
  /** Keeps the largest value. */
  most(what: string, value: number): void
  of(what: string): number
  /** A promise that was broken. The first of each kind are kept whole, all are counted. */
  broken(promise: string, how: string): void
  readonly violations: readonly string[]
  table(): string
}

const keptOfAPromise = 12

export function createFigures(): Figures {
  const counts = new Map<string, number>()
  const violations: string[] = []
  const count = (what: string, by = 1): void => void counts.set(what, (counts.get(what) ?? 0) + by)
  return {
    count,
    most: (what, value) => void counts.set(what, Math.max(counts.get(what) ?? 0, Math.round(value))),
    of: (what) => counts.get(what) ?? 0,
    broken: (promise, how) => {
      count(`broken: ${promise}`)
      const already = counts.get(`broken: ${promise}`) ?? 0
      if (already <= keptOfAPromise) violations.push(`${promise}: ${how}`)
    },
    violations,
    table: () =>
      [...counts]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([what, n]) => `${what.padEnd(64, '.')} ${n}`)
        .join('\n'),
  }
}
