import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchmarkResult, RunResult } from '../figures/result.ts'
import { drawPlots } from './draw.ts'
import { linearScale, logScale } from './scale.ts'

const result = (name: string, rest: Partial<BenchmarkResult>): BenchmarkResult => ({
  name,
  title: name,
  figures: [],
  checks: [],
  notes: [],
  seconds: 1,
  ...rest,
})

const run = (...benchmarks: readonly BenchmarkResult[]): RunResult => ({
  format: 1,
  startedAt: '2026-01-01T00:00:00.000Z',
  quick: true,
  settings: { commit: 'abc' },
  benchmarks,
})

const goals = (name: string, median: number): BenchmarkResult =>
  result(name, {
    figures: [
      { name: `ratio & <more> of ${name}`, unit: '', rounds: [median], goal: { row: 1, is: 'at least', value: 1.1 } },
      ...['p50', 'p95', 'p99'].map((p, at) => ({ name: `send: ${p}`, unit: 'ms', rounds: [at + 1] })),
    ],
  })

let folder: string
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'plots-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

test('only measured figures are drawn, with their labels, and of two runs the later figure', async () => {
  expect(await drawPlots([run(goals('one', 1)), run(goals('one', 2))], folder)).toEqual(['goals.svg', 'latencies.svg'])
  const drawn = await readFile(join(folder, 'goals.svg'), 'utf8')
  expect(drawn).toContain('ratio &amp; &lt;more> of one'.replace('>', '&gt;'))
  expect(drawn).toContain('2.00   (goal at least 1.1)')
  expect(drawn).not.toContain('NaN')
  expect(await readFile(join(folder, 'latencies.svg'), 'utf8')).toContain('1.00 / 2.00 / 3.00')
})

test('stages below a hundredth are drawn as one, and growth with its ratio', async () => {
  const stage = (name: string, microseconds: number) =>
    ({ load: 'single sends', process: 'node', stage: name, microseconds }) as const
  const grown = result('scale', { growth: [{ path: 'status', unit: 'µs', small: 2, large: 3 }] })
  const staged = result('stages', { stages: [stage('HTTP', 99.5), stage('tiny', 0.25), stage('least', 0.25)] })
  expect(await drawPlots([run(grown, staged)], folder)).toEqual(['stages.svg', 'growth.svg'])
  const drawn = await readFile(join(folder, 'stages.svg'), 'utf8')
  expect(drawn).toContain('PostgreSQL: everything else, 0.500 µs')
  expect(drawn).not.toContain('tiny')
  expect(await readFile(join(folder, 'growth.svg'), 'utf8')).toContain('1.50   (2.00 to 3.00 µs)')
})

test('an axis has round ticks that extend beyond the drawn values, and values outside are drawn at its edge', () => {
  const linear = linearScale(0, 100, 83)
  expect(linear.ticks).toEqual([0, 20, 40, 60, 80, 100])
  expect(linear.at(50)).toBe(50)
  const log = logScale(0, 100, [0.1, 1, 10, 100], [1, 10])
  expect(log.ticks).toEqual([1, 10])
  expect([log.at(0.01), log.at(1), log.at(10), log.at(1000)]).toEqual([0, 0, 100, 100])
})
