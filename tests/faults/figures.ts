/** Counts of events of a run, and sentences about violations. */
export interface Figures {
  count(name: string, by?: number): void
  /** Stores a figure if it is larger than the stored one. */
  most(name: string, value: number): void
  of(name: string): number
  /** Records a violation of a promise. The first ones of each kind are stored with their text, all are counted. */
  broken(promise: string, how: string): void
  readonly violations: readonly string[]
  table(): string
}

const keptOfAPromise = 12

export function createFigures(): Figures {
  const counts = new Map<string, number>()
  const violations: string[] = []
  const count = (name: string, by = 1): void => void counts.set(name, (counts.get(name) ?? 0) + by)
  return {
    count,
    most: (name, value) => void counts.set(name, Math.max(counts.get(name) ?? 0, Math.round(value))),
    of: (name) => counts.get(name) ?? 0,
    broken: (promise, how) => {
      count(`broken: ${promise}`)
      const already = counts.get(`broken: ${promise}`) ?? 0
      if (already <= keptOfAPromise) violations.push(`${promise}: ${how}`)
    },
    violations,
    table: () =>
      [...counts]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, n]) => `${name.padEnd(64, '.')} ${n}`)
        .join('\n'),
  }
}
