import { verdictOf, type Figure, type Goal } from './figure.ts'
import type { BenchmarkResult, RunResult, Stage } from './result.ts'
import { spreadOf } from './spread.ts'

/**
 * Formats a number with three significant digits if it has decimals, and whole numbers with a separator at the
 * thousands.
 */
export function short(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  if (size >= 1000) return Math.round(value).toLocaleString('en-US')
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(size >= 1 || size === 0 ? 2 : 3)
}

/** Formats rows with columns of equal width, the first left-aligned, the others right-aligned. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  const line = (row: readonly string[]): string =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')
  return rows.map((row) => `  ${line(row).trimEnd()}`).join('\n')
}

function figureRow(figure: Figure): string[] {
  const { median, min, max } = spreadOf(figure.rounds)
  const spread = figure.rounds.length > 1 ? `${short(min)} .. ${short(max)}` : ''
  const { goal } = figure
  const sign = goal?.is === 'at least' ? '>=' : '<='
  const verdict = goal === undefined ? '' : `goal ${goal.row}: ${sign} ${goal.value} ${verdictOf(goal, figure.rounds)}`
  return [figure.name, short(median), figure.unit, spread, verdict]
}

/** Returns the report of one benchmark, which is printed at its end. */
export function benchmarkReport(result: BenchmarkResult): string {
  const parts = [`${result.name}: ${result.title} (${Math.round(result.seconds)} s)`]
  if (result.figures.length > 0) {
    parts.push(table([['', 'median', 'unit', 'min .. max', ''], ...result.figures.map(figureRow)]))
  }
  if (result.stages !== undefined) parts.push(stagesReport(result.stages))
  if (result.growth !== undefined) {
    const rows = result.growth.map(({ path, unit, small, large }) => [
      path,
      short(small),
      short(large),
      short(large / small),
      unit,
    ])
    parts.push(table([['', 'small', 'large', 'ratio', 'unit'], ...rows]))
  }
  for (const { condition: subject, problem } of result.checks)
    parts.push(
      `  ${problem === undefined ? 'ok' : 'NOT SO'}: ${subject}${problem === undefined ? '' : ` (${problem})`}`,
    )
  for (const note of result.notes) parts.push(`  ${note}`)
  return parts.join('\n')
}

function stagesReport(stages: readonly Stage[]): string {
  const rows = stages.map(({ load, process, stage, microseconds }) => [
    `${load}, ${process}: ${stage}`,
    short(microseconds),
    'µs',
  ])
  const loads = [...new Set(stages.map(({ load }) => load))]
  const sums = loads.map((load) => {
    const sum = stages.reduce((total, stage) => total + (stage.load === load ? stage.microseconds : 0), 0)
    return [`${load}, all`, short(sum), 'µs']
  })
  return table([['', 'CPU a message', ''], ...rows, ...sums])
}

const place = ({ row }: Goal): number => (row === 'scale' ? Infinity : row)

/** Returns the table of goals, with the settings that are needed to judge it. */
export function runReport(run: RunResult): string {
  const goals = run.benchmarks
    .flatMap(({ name, figures }) => figures.map((figure) => ({ name, figure })))
    .flatMap(({ name, figure }) => (figure.goal === undefined ? [] : [{ name, figure, goal: figure.goal }]))
    .sort((a, b) => place(a.goal) - place(b.goal))
  const rows = goals.map(({ name, figure, goal }) => {
    const { median, min, max } = spreadOf(figure.rounds)
    const sign = goal.is === 'at least' ? '>=' : '<='
    return [
      `${String(goal.row).padStart(2)} ${name}: ${figure.name}`,
      `${short(median)} ${figure.unit}`.trim(),
      `${short(min)} .. ${short(max)}`,
      `${sign} ${goal.value}`,
      verdictOf(goal, figure.rounds),
    ]
  })
  const settings = Object.entries(run.settings).map(([name, value]) => `  ${name}: ${value}`)
  const broken = run.benchmarks.flatMap(({ name, checks }) =>
    checks.flatMap(({ condition: subject, problem }) =>
      problem === undefined ? [] : [`  NOT SO: ${name}: ${subject} (${problem})`],
    ),
  )
  const checked = run.benchmarks.reduce((n, { checks }) => n + checks.length, 0)
  return [
    'Settings',
    ...settings,
    '',
    'Goals',
    rows.length === 0 ? '  none measured' : table([['', 'median', 'min .. max', 'goal', ''], ...rows]),
    '',
    broken.length === 0 ? `All ${checked} checks of correctness hold.` : broken.join('\n'),
  ].join('\n')
}
