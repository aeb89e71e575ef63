import { verdictOf } from '../figures/figure.ts'
import { short } from '../figures/report.ts'
import type { BenchmarkResult } from '../figures/result.ts'
import { spreadOf } from '../figures/spread.ts'
import { logScale } from './scale.ts'
import { colours, dot, faint, goalColour, line, textAt, type Drawing } from './svg.ts'

const plotLeft = 430
const right = 820
const width = 1060
const rowHeight = 30
const shade = { met: colours[2], 'missed within the spread': colours[1], missed: colours[5] } as const

/** Draws each figure as a multiple of its goal; all goals lie on one line. Returns undefined if none was measured. */
export function goalsPlot(benchmarks: readonly BenchmarkResult[]): Drawing | undefined {
  const rows = benchmarks
    .flatMap(({ figures }) => figures)
    .flatMap((figure) => (figure.goal === undefined ? [] : [{ ...figure, goal: figure.goal }]))
    .sort((a, b) => order(a.goal.row) - order(b.goal.row))
  if (rows.length === 0) return undefined
  const scale = logScale(plotLeft, right, [0.25, 0.5, 1, 2, 4, 8], [0.2, 10])
  const bottom = 30 + rows.length * rowHeight
  const elements = scale.ticks.flatMap((tick) => [
    line(scale.at(tick), 20, scale.at(tick), bottom, tick === 1 ? goalColour : faint, tick === 1 ? 2 : 1),
    textAt(scale.at(tick), bottom + 18, tick === 1 ? 'the goal' : tick < 1 ? `${1 / tick}x worse` : `${tick}x better`, {
      anchor: 'middle',
      size: 11,
      ...(tick === 1 && { fill: goalColour, bold: true }),
    }),
  ])
  for (const [at, { name, unit, rounds, goal }] of rows.entries()) {
    const y = 38 + at * rowHeight
    const { median, min, max } = spreadOf(rounds)
    const better = (value: number): number => (goal.is === 'at least' ? value / goal.value : goal.value / value)
    const fill = shade[verdictOf(goal, rounds)] ?? '#000000'
    elements.push(
      textAt(plotLeft - 14, y + 4, `${goal.row === 'scale' ? '' : `${goal.row}  `}${name}`, {
        anchor: 'end',
        size: 12,
      }),
      line(scale.at(better(min)), y, scale.at(better(max)), y, fill, 3),
      dot(scale.at(better(median)), y, fill),
      textAt(right + 14, y + 4, `${short(median)} ${unit}`.trim() + `   (goal ${goal.is} ${goal.value})`, { size: 12 }),
    )
  }
  return { width, height: bottom + 30, elements }
}

const order = (row: number | 'scale'): number => (row === 'scale' ? Infinity : row)
