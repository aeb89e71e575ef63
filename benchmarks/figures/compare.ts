import type { Figure } from './figure.ts'
import { short, table } from './report.ts'
import type { RunResult } from './result.ts'
import { spreadOf } from './spread.ts'

export interface Difference {
  readonly benchmark: string
  readonly figure: string
  readonly unit: string
  readonly before: number
  readonly after: number
  readonly kind: 'better' | 'worse' | 'different'
}

/** Returns the figures whose ranges in the two runs do not overlap, largest change first. */
export function differences(before: RunResult, after: RunResult): Difference[] {
  const found = after.benchmarks.flatMap(({ name, figures }) => {
    const old = before.benchmarks.find((benchmark) => benchmark.name === name)?.figures ?? []
    return figures.flatMap((figure) => {
      const same = old.find((other) => other.name === figure.name && other.unit === figure.unit)
      const difference = same === undefined ? undefined : differenceOf(same, figure)
      return difference === undefined
        ? []
        : [{ benchmark: name, figure: figure.name, unit: figure.unit, ...difference }]
    })
  })
  return found.sort((a, b) => change(b) - change(a))
}

const change = ({ before, after }: Difference): number => Math.abs(Math.log(after / before))

function differenceOf(old: Figure, figure: Figure): Pick<Difference, 'before' | 'after' | 'kind'> | undefined {
  const a = spreadOf(old.rounds)
  const b = spreadOf(figure.rounds)
  if (a.max >= b.min && b.max >= a.min) return undefined
  const rose = b.median > a.median
  const kind = figure.better === undefined ? 'different' : (figure.better === 'more') === rose ? 'better' : 'worse'
  return { before: a.median, after: b.median, kind }
}

/** Returns the settings that differ between the runs, and the figures that changed beyond their spread. */
export function comparison(before: RunResult, after: RunResult): string {
  const names = new Set([...Object.keys(before.settings), ...Object.keys(after.settings)])
  const changed = [...names].filter((name) => before.settings[name] !== after.settings[name])
  const settings = changed.map((name) => [name, before.settings[name] ?? '-', after.settings[name] ?? '-'])
  const rows = differences(before, after).map((difference) => [
    `${difference.kind}: ${difference.benchmark}: ${difference.figure}`,
    short(difference.before),
    short(difference.after),
    difference.unit,
    `${difference.after >= difference.before ? '+' : ''}${short((difference.after / difference.before - 1) * 100)} %`,
  ])
  return [
    ...(settings.length === 0 ? [] : ['Settings that differ', table(settings), '']),
    rows.length === 0 ? 'No figure differs beyond the spread.' : table([['', 'before', 'after', 'unit', ''], ...rows]),
  ].join('\n')
}
