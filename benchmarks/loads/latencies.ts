import { percentile } from '../figures/spread.ts'

/** Percentiles of latencies, in milliseconds. */
export interface Latencies {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export function latenciesOf(milliseconds: readonly number[]): Latencies {
  const sorted = Float64Array.from(milliseconds).sort()
  const at = (p: number): number => percentile(sorted, p)
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}
