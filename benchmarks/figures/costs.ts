import type { Usage } from '../environment/usage.ts'
import type { Latencies } from '../loads/latencies.ts'
import type { Figure } from './figure.ts'

/** Cost of one round of a benchmark, and the number of messages (or answers) in that round. */
export interface Cost {
  readonly usage: Usage
  readonly count: number
  /** CPU time of the load generator, in µs. */
  readonly generator: number
}

/** Returns the cost of a message in each process. `apps` names the measured processes. */
export function costFigures(of: string, apps: readonly string[], rounds: readonly Cost[]): Figure[] {
  const each = (cost: (round: Cost) => number): number[] => rounds.map((round) => cost(round) / round.count)
  const cpu = (name: string, rounds: readonly number[]): Figure => ({
    name: `${of}: CPU of ${name}`,
    unit: 'µs each',
    rounds,
    better: 'less',
  })
  return [
    ...apps.map((app, at) =>
      cpu(
        app,
        each(({ usage }) => usage.apps[at] ?? NaN),
      ),
    ),
    cpu(
      'PostgreSQL',
      each(({ usage }) => usage.postgres),
    ),
    { name: `${of}: log of PostgreSQL`, unit: 'bytes each', rounds: each(({ usage }) => usage.wal), better: 'less' },
    ...apps.map((app, at): Figure => ({
      name: `${of}: memory of ${app}, most`,
      unit: 'MB',
      rounds: rounds.map(({ usage }) => usage.memory[at] ?? NaN),
      better: 'less',
    })),
    { name: `${of}: CPU of the load generator`, unit: 'µs each', rounds: each(({ generator }) => generator) },
  ]
}

export function latencyFigures(of: string, rounds: readonly Latencies[]): Figure[] {
  return (['p50', 'p95', 'p99'] as const).map((p) => ({
    name: `${of}: ${p}`,
    unit: 'ms',
    rounds: rounds.map((latencies) => latencies[p]),
    better: 'less',
  }))
}
