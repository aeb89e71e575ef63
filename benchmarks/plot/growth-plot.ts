import type { BenchmarkResult } from '../figures/result.ts'
import { short } from '../figures/report.ts'
import { linearScale } from './scale.ts'
import { box, colours, faint, goalColour, line, textAt, type Drawing } from './svg.ts'

const plotLeft = 330
const right = 740
const width = 1000
const rowHeight = 30
/**
 * Goal 9 of docs/performance.md: a cost on the large database may be at most this multiple of the same cost on the
 * small one.
 */
const goal = 1.3

/**
 * Draws the cost of each path on the large database relative to the small one. Returns undefined if it was not
 * measured.
 */
export function growthPlot(benchmarks: readonly BenchmarkResult[]): Drawing | undefined {
  const rows = benchmarks.flatMap(({ growth }) => growth ?? [])
  if (rows.length === 0) return undefined
  const scale = linearScale(plotLeft, right, Math.max(2, ...rows.map(({ small, large }) => large / small)))
  const bottom = 30 + rows.length * rowHeight
  const elements = scale.ticks.flatMap((tick) => [
    line(scale.at(tick), 20, scale.at(tick), bottom, faint),
    textAt(scale.at(tick), bottom + 18, String(Number(tick.toFixed(2))), { anchor: 'middle', size: 11 }),
  ])
  for (const [at, { path, unit, small, large }] of rows.entries()) {
    const y = 26 + at * rowHeight
    elements.push(textAt(plotLeft - 14, y + 15, path, { anchor: 'end', size: 12 }))
    elements.push(box(plotLeft, y, scale.at(large / small) - plotLeft, rowHeight - 10, colours[0] ?? ''))
    elements.push(
      textAt(right + 30, y + 15, `${short(large / small)}   (${short(small)} to ${short(large)} ${unit})`, {
        size: 12,
      }),
    )
  }
  elements.push(
    line(scale.at(1), 14, scale.at(1), bottom, '#222222', 1.5),
    line(scale.at(goal), 14, scale.at(goal), bottom, goalColour, 2, '5 4'),
  )
  elements.push(textAt(scale.at(1), 10, 'the same', { anchor: 'middle', size: 11 }))
  elements.push(textAt(scale.at(goal) + 4, 10, `goal 9: at most ${goal}`, { size: 11, fill: goalColour }))
  return { width, height: bottom + 30, elements }
}
