import type { BenchmarkResult } from '../figures/result.ts'
import { short } from '../figures/report.ts'
import { spreadOf } from '../figures/spread.ts'
import { logScale } from './scale.ts'
import { colours, dot, faint, line, textAt, type Drawing } from './svg.ts'

const plotLeft = 330
const right = 860
const width = 1000
const rowHeight = 28
const percentiles = ['p50', 'p95', 'p99'] as const
const shade = { p50: colours[2], p95: colours[1], p99: colours[5] } as const

/**
 * Draws the milliseconds within which 50 %, 95 % and 99 % of the answers arrived. Returns undefined if none was
 * measured.
 */
export function latenciesPlot(benchmarks: readonly BenchmarkResult[]): Drawing | undefined {
  const rows = benchmarks.flatMap(({ name: benchmark, figures }) =>
    figures.flatMap(({ name }) => {
      const of = /^(.*): p50$/.exec(name)?.[1]
      if (of === undefined) return []
      const medians = percentiles.map(
        (p) => spreadOf(figures.find((one) => one.name === `${of}: ${p}`)?.rounds ?? [NaN]).median,
      )
      return [{ label: `${benchmark}: ${of}`, medians }]
    }),
  )
  if (rows.length === 0) return undefined
  const scale = logScale(plotLeft, right, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000], [1, 5000])
  const bottom = 40 + rows.length * rowHeight
  const elements = scale.ticks.flatMap((tick) => [
    line(scale.at(tick), 28, scale.at(tick), bottom, faint),
    textAt(scale.at(tick), bottom + 18, tick < 1000 ? `${tick} ms` : `${tick / 1000} s`, {
      anchor: 'middle',
      size: 11,
    }),
  ])
  for (const [at, p] of percentiles.entries()) {
    elements.push(dot(plotLeft + at * 70, 10, shade[p] ?? ''), textAt(plotLeft + at * 70 + 10, 14, p, { size: 12 }))
  }
  for (const [at, { label, medians }] of rows.entries()) {
    const y = 46 + at * rowHeight
    const [p50 = NaN, , p99 = NaN] = medians
    elements.push(textAt(plotLeft - 14, y + 4, label, { anchor: 'end', size: 12 }))
    elements.push(line(scale.at(p50), y, scale.at(p99), y, faint, 3))
    for (const [i, p] of percentiles.entries()) elements.push(dot(scale.at(medians[i] ?? NaN), y, shade[p] ?? ''))
    elements.push(textAt(right + 14, y + 4, medians.map(short).join(' / '), { size: 12 }))
  }
  return { width, height: bottom + 30, elements }
}
