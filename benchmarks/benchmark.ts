import type { BenchmarkResult } from './figures/result.ts'
import type { BenchmarkEnvironment } from './environment/environment.ts'

/** What a benchmark found out. */
export type Outcome = Pick<BenchmarkResult, 'figures' | 'notes' | 'stages' | 'growth'>

export interface Benchmark {
  readonly name: string
  readonly title: string
  /** The rows of the table of goals that it measures. */
  readonly goals: readonly number[]
  /** When nothing was named: part of every run, of full runs only, or only when it is named. */
  readonly runs: 'always' | 'in full runs' | 'when named'
  run(environment: BenchmarkEnvironment): Promise<Outcome>
}
