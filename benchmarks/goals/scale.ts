import type { Benchmark, Outcome } from '../benchmark.ts'
import type { Figure } from '../figures/figure.ts'
import type { Growth } from '../figures/result.ts'
import { ratios, spreadOf } from '../figures/spread.ts'
import { checkFilled } from '../environment/checks.ts'
import { addBacklog, type Filling } from '../environment/fill.ts'
import { inRounds } from '../environment/rounds.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import * as paths from './scale-paths.ts'
import { openSide, type Side } from './scale-side.ts'

const small: Filling = { history: 1_000_000, accounts: 1000, suppressions: 1000, scheduled: 10_000 }
const large: Filling = { history: 20_000_000, accounts: 100_000, suppressions: 1_000_000, scheduled: 1_000_000 }
const backlogs = { small: 100_000, large: 1_000_000 }

const part = (filling: Filling, by: number): Filling => ({ ...filling, history: filling.history / by })

/** Costs that must not grow with the stored data (docs/performance.md, goal 9 and others). */
export const scale: Benchmark = {
  name: 'scale',
  title: 'each hot path on a database with 20 million messages of history beside one with 1 million',
  goals: [9],
  runs: 'when named',
  run: async (environment) => {
    const by = environment.quick ? 10 : 1
    const filled = performance.now()
    const sides = {
      small: await openSide(environment, 'small', part(small, by)),
      large: await openSide(environment, 'large', part(large, by)),
    }
    const fillSeconds = (performance.now() - filled) / 1000
    environment.say(`both databases were filled in ${Math.round(fillSeconds)} s`)
    const found = await measurePaths(environment, sides)
    await addBacklog(sides.small.database, backlogs.small / by, sides.small.accounts.length)
    await addBacklog(sides.large.database, backlogs.large / by, sides.large.accounts.length)
    const behind = await compared(environment, sides, paths.behindBacklog)
    for (const [name, { database }] of Object.entries(sides)) await checkFilled(environment, name, database)
    return {
      figures: [...found.figures, ...behind.figures, { name: 'filling', unit: 's', rounds: [fillSeconds] }],
      growth: [...(found.growth ?? []), ...behind.growth],
      notes: [
        'Small and large: CPU of PostgreSQL a message, or the p50 of an answer.',
        ...(environment.quick
          ? ['A quick run has a tenth of the history and of the backlog: it says nothing about goal 9.']
          : []),
      ],
    }
  },
}

interface Sides {
  readonly small: Side
  readonly large: Side
}

type Path = (environment: BenchmarkEnvironment, side: Side) => Promise<Readonly<Record<string, number>>>

async function measurePaths(environment: BenchmarkEnvironment, sides: Sides): Promise<Outcome> {
  const goal = environment.quick ? undefined : ({ row: 9, is: 'at most', value: 1.3 } as const)
  const lives = [
    await compared(environment, sides, paths.bulkLife),
    await compared(environment, sides, paths.singleLife),
  ]
  const others = [paths.screenedAccept, paths.recentStatus, paths.oldStatus, paths.scheduled, paths.transfers]
  const results = [...lives]
  for (const path of others) results.push(await compared(environment, sides, path))
  const figures = results.flatMap((result) => result.figures)
  return {
    figures: figures.map((figure) =>
      goal !== undefined && figure.name.includes('whole life') ? { ...figure, goal } : figure,
    ),
    growth: results.flatMap(({ growth }) => growth),
    notes: [],
  }
}

async function compared(
  environment: BenchmarkEnvironment,
  { small: one, large: other }: Sides,
  path: Path,
): Promise<{ figures: Figure[]; growth: Growth[] }> {
  const rounds = await inRounds(3, { small: () => path(environment, one), large: () => path(environment, other) })
  const names = Object.keys(rounds.small[0] ?? {})
  const of = (side: 'small' | 'large', name: string): number[] => rounds[side].map((values) => values[name] ?? NaN)
  return {
    figures: names.map((name) => ({
      name: `${name}, large beside small`,
      unit: '',
      rounds: ratios(of('large', name), of('small', name)),
      better: 'less',
    })),
    growth: names.map((name) => ({
      path: name,
      unit: name.includes('answer') ? 'ms' : 'µs',
      small: spreadOf(of('small', name)).median,
      large: spreadOf(of('large', name)).median,
    })),
  }
}
