import type { BenchmarkResult, Stage } from '../figures/result.ts'
import { short } from '../figures/report.ts'
import { linearScale } from './scale.ts'
import { box, colours, faint, line, textAt, type Drawing } from './svg.ts'

const plotLeft = 40
const right = 900
const width = 960
const barHeight = 36

/**
 * Draws for each load one bar with all its stages, with its own scale and a legend below. Returns undefined if nothing
 * was measured.
 */
export function stagesPlot(benchmarks: readonly BenchmarkResult[]): Drawing | undefined {
  const stages = benchmarks.flatMap((benchmark) => benchmark.stages ?? [])
  const loads = [...new Set(stages.map(({ load }) => load))]
  if (loads.length === 0) return undefined
  const shades = new Map([...new Set(stages.map(nameOf))].map((name, at) => [name, colours[at % colours.length] ?? '']))
  const elements: string[] = []
  let y = 10
  for (const load of loads) {
    const bar = barOf(load, sizable(stages.filter((stage) => stage.load === load)), y, shades)
    elements.push(...bar.elements)
    y = bar.end + 24
  }
  return { width, height: y, elements }
}

const nameOf = ({ process, stage }: Stage): string => `${process}: ${stage}`

/** Combines stages of less than 1 % into one. */
function sizable(stages: readonly Stage[]): Stage[] {
  const [first] = stages
  const least = stages.reduce((total, { microseconds }) => total + microseconds, 0) / 100
  const isOther = ({ stage, microseconds }: Stage): boolean => stage === 'everything else' || microseconds < least
  const rest = stages.filter(isOther).reduce((total, { microseconds }) => total + microseconds, 0)
  const large = stages.filter((stage) => !isOther(stage))
  if (first === undefined || rest === 0) return large
  return [...large, { ...first, process: 'PostgreSQL', stage: 'everything else', microseconds: rest }]
}

function barOf(
  load: string,
  stages: readonly Stage[],
  top: number,
  shades: ReadonlyMap<string, string>,
): { elements: string[]; end: number } {
  const sum = stages.reduce((total, { microseconds }) => total + microseconds, 0)
  const scale = linearScale(plotLeft, right, sum)
  const elements = [textAt(plotLeft, top + 12, `${load}: ${short(sum)} µs of CPU a message`, { bold: true, size: 14 })]
  const barTop = top + 24
  for (const tick of scale.ticks) {
    elements.push(line(scale.at(tick), barTop - 4, scale.at(tick), barTop + barHeight + 4, faint))
    elements.push(
      textAt(scale.at(tick), barTop + barHeight + 18, `${Number(tick.toFixed(2))} µs`, { anchor: 'middle', size: 11 }),
    )
  }
  let from = 0
  const legendTop = barTop + barHeight + 42
  const perColumn = Math.ceil(stages.length / 2)
  for (const [at, stage] of stages.entries()) {
    const { microseconds } = stage
    const fill = shades.get(nameOf(stage)) ?? '#bbbbbb'
    elements.push(
      box(scale.at(from), barTop, Math.max(0.5, scale.at(from + microseconds) - scale.at(from) - 1), barHeight, fill),
    )
    from += microseconds
    const x = plotLeft + (at < perColumn ? 0 : 450)
    const y = legendTop + (at % perColumn) * 18
    elements.push(box(x, y - 10, 12, 12, fill))
    elements.push(textAt(x + 18, y, `${nameOf(stage)}, ${short(microseconds)} µs`, { size: 12 }))
  }
  return { elements, end: legendTop + perColumn * 18 }
}
