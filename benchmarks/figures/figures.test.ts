import { comparison, differences } from './compare.ts'
import { verdictOf, type Figure } from './figure.ts'
import { benchmarkReport, runReport, short, table } from './report.ts'
import type { RunResult } from './result.ts'
import { percentile, ratios, spreadOf } from './spread.ts'

const runOf = (settings: RunResult['settings'], ...figures: readonly Figure[]): RunResult => ({
  format: 1,
  startedAt: '2026-01-01T00:00:00.000Z',
  quick: true,
  settings,
  benchmarks: [{ name: 'bulk', title: 'Bulk', figures, checks: [{ condition: 'each once' }], notes: [], seconds: 7 }],
})

const figure = (name: string, rounds: readonly number[], rest: Partial<Figure> = {}): Figure => ({
  name,
  unit: '/s',
  rounds,
  ...rest,
})

describe('a spread', () => {
  test('of an odd number of rounds has the middle one as median', () => {
    expect(spreadOf([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 })
  })

  test('of an even number of rounds has a median between the two middle ones', () => {
    expect(spreadOf([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4 })
  })

  test('of no rounds is an error', () => {
    expect(() => spreadOf([])).toThrow('nothing was measured')
  })

  test('percentiles are measured values', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => i + 1)
    expect([percentile(hundred, 0.5), percentile(hundred, 0.99), percentile(hundred, 1)]).toEqual([50, 99, 100])
    expect(percentile([7], 0.5)).toBe(7)
    expect(percentile([], 0.5)).toBeNaN()
  })

  test('ratios are computed for each round', () => {
    expect(ratios([10, 30], [5, 10])).toEqual([2, 3])
  })
})

describe('a goal', () => {
  test.each([
    ['at least', 1, [0.9, 1, 1.2], 'met'],
    ['at least', 1, [0.8, 0.9, 1], 'missed within the spread'],
    ['at least', 1, [0.7, 0.8, 0.9], 'missed'],
    ['at most', 4, [3, 4, 9], 'met'],
    ['at most', 4, [4, 5, 9], 'missed within the spread'],
    ['at most', 4, [5, 5, 9], 'missed'],
    ['at most', 4, [NaN, NaN, NaN], 'missed'],
  ] as const)('of %s %d with rounds %p is %s', (is, value, rounds, verdict) => {
    expect(verdictOf({ row: 1, is, value }, rounds)).toBe(verdict)
  })
})

describe('a comparison', () => {
  const before = runOf({ cores: '2' }, figure('rate', [100, 110, 120], { better: 'more' }), figure('rows', [5, 6, 7]))

  test('reports no difference if the rounds of both runs overlap', () => {
    const after = runOf({ cores: '2' }, figure('rate', [120, 130, 140], { better: 'more' }), figure('rows', [7, 8, 9]))
    expect(differences(before, after)).toEqual([])
    expect(comparison(before, after)).toBe('No figure differs beyond the spread.')
  })

  test('distinguishes better from worse by the direction of improvement, largest change first', () => {
    const after = runOf(
      { cores: '4' },
      figure('rows', [8, 8, 8]),
      figure('rate', [50, 55, 60], { better: 'more' }),
      figure('new', [1]),
    )
    expect(differences(before, after)).toEqual([
      { benchmark: 'bulk', figure: 'rate', unit: '/s', before: 110, after: 55, kind: 'worse' },
      { benchmark: 'bulk', figure: 'rows', unit: '/s', before: 6, after: 8, kind: 'different' },
    ])
    expect(comparison(before, after)).toMatch(/cores +2 +4\n\n.*\n +worse: bulk: rate +110 +55\.0 +\/s +-50\.0 %/)
  })

  test('figures with different units are not compared', () => {
    expect(differences(before, runOf({}, figure('rate', [1], { unit: 'ms' })))).toEqual([])
  })
})

describe('a report', () => {
  test('has three significant digits and separators at the thousands', () => {
    expect([0.12345, 1.2345, 12.345, 123.45, 1234.5, 1234567, 0].map(short)).toEqual([
      '0.123',
      '1.23',
      '12.3',
      '123',
      '1,235',
      '1,234,567',
      '0.00',
    ])
    expect(short(NaN)).toBe('NaN')
  })

  test('columns are as wide as their content', () => {
    expect(
      table([
        ['a', '1'],
        ['long', '100'],
      ]),
    ).toBe('  a       1\n  long  100')
  })

  test('of a benchmark shows each figure with its spread, its goal, the checks and the notes', () => {
    const ratio = figure('ratio', [1, 2, 3], { unit: '', goal: { row: 1, is: 'at least', value: 1.1 } })
    const [benchmark] = runOf({}, ratio).benchmarks
    if (benchmark === undefined) throw new Error('no benchmark')
    const checks = [{ condition: 'each once' }, { condition: 'none lost', problem: '3 are' }]
    const text = benchmarkReport({ ...benchmark, checks, notes: ['A note.'] })
    expect(text).toMatch(/^bulk: Bulk \(7 s\)\n/)
    expect(text).toMatch(/ratio +2\.00 +1\.00 \.\. 3\.00 +goal 1: >= 1\.1 met/)
    expect(text).toMatch(/\n {2}ok: each once\n {2}NOT SO: none lost \(3 are\)\n {2}A note\.$/)
  })

  test('of a run shows the settings, the goals in the order of the table, and failed checks', () => {
    const later = figure('late', [9], { goal: { row: 10, is: 'at most', value: 4 } })
    const first = figure('early', [2], { goal: { row: 2, is: 'at least', value: 1 } })
    const beside = figure('beside', [2], { goal: { row: 'scale', is: 'at least', value: 1 } })
    const text = runReport(runOf({ fsync: 'on' }, beside, later, first, figure('none', [1])))
    expect(text).toMatch(/ {2}fsync: on\n/)
    expect(text).toMatch(/ 2 bulk: early .*met\n.*10 bulk: late .*missed\n.*scale bulk: beside .*met\n/)
    expect(text).toMatch(/All 1 checks of correctness hold\.$/)
  })
})
