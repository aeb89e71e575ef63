import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BenchmarkResult, RunResult } from '../figures/result.ts'
import { goalsPlot } from './goals-plot.ts'
import { growthPlot } from './growth-plot.ts'
import { latenciesPlot } from './latencies-plot.ts'
import { stagesPlot } from './stages-plot.ts'
import { svgOf, type Drawing } from './svg.ts'

interface Plot {
  readonly file: string
  readonly title: string
  readonly draw: (benchmarks: readonly BenchmarkResult[]) => Drawing | undefined
}

const plots: readonly Plot[] = [
  {
    file: 'goals.svg',
    title: 'Each figure beside its goal: right of the line is better (dot: median; line: all rounds)',
    draw: goalsPlot,
  },
  { file: 'latencies.svg', title: 'How long an answer takes', draw: latenciesPlot },
  { file: 'stages.svg', title: 'Where the time of a message goes', draw: stagesPlot },
  { file: 'growth.svg', title: 'What a path costs on a large database, beside a small one', draw: growthPlot },
]

/** Draws the results of the runs, for each benchmark the last one. Returns the written files. */
export async function drawPlots(runs: readonly RunResult[], folder: string): Promise<string[]> {
  const latest = new Map(runs.flatMap(({ benchmarks }) => benchmarks.map((benchmark) => [benchmark.name, benchmark])))
  const drawn = plots.flatMap((plot) => {
    const drawing = plot.draw([...latest.values()])
    return drawing === undefined ? [] : [{ ...plot, text: svgOf(plot.title, subtitleOf(runs), drawing) }]
  })
  await mkdir(folder, { recursive: true })
  for (const { file, text } of drawn) await writeFile(join(folder, file), text)
  return drawn.map(({ file }) => file)
}

const subtitleOf = (runs: readonly RunResult[]): string =>
  runs
    .slice(-1)
    .map(({ startedAt, quick, settings }) => {
      const { commit = '?', processor = '?', PostgreSQL = '?' } = settings
      return `${startedAt.slice(0, 10)}, ${quick ? 'quick' : 'full'} run at ${commit}; ${processor}; PostgreSQL ${PostgreSQL}.`
    })
    .join('')
