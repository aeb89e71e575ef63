import type { BenchmarkResult } from './figures/result.ts'
import type { BenchmarkEnvironment } from './environment/environment.ts'

export type Outcome = Pick<BenchmarkResult, 'figures' | 'notes' | 'stages' | 'growth'>

export interface Benchmark {
  readonly name: string
  readonly title: string
  /** Rows of the table of goals that the benchmark measures. */
  readonly goals: readonly number[]
  /** Runs that include the benchmark: all of them, full runs only, or only runs that name it. */
  readonly runs: 'always' | 'in full runs' | 'when named'
  run(environment: BenchmarkEnvironment): Promise<Outcome>
}
