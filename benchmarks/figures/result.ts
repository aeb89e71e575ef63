import { readFile } from 'node:fs/promises'
import type { Figure } from './figure.ts'

/** Condition without which the figures of a benchmark are meaningless. */
export interface Check {
  readonly condition: string
  /** Reason of the failure, or undefined if the check holds. */
  readonly problem?: string
}

/** CPU time of one stage in one process, in µs a message. */
export interface Stage {
  readonly load: 'sends of 1000' | 'single sends' | 'status of 1000'
  readonly process: 'node' | 'PostgreSQL'
  readonly stage: string
  readonly microseconds: number
}

/** Growth of a cost: the same path on a small and on a large database. */
export interface Growth {
  readonly path: string
  readonly unit: string
  readonly small: number
  readonly large: number
}

export interface BenchmarkResult {
  readonly name: string
  readonly title: string
  readonly figures: readonly Figure[]
  readonly checks: readonly Check[]
  readonly notes: readonly string[]
  readonly stages?: readonly Stage[]
  readonly growth?: readonly Growth[]
  readonly seconds: number
}

/** Result file of a run. It contains no name of a machine, user or folder. */
export interface RunResult {
  readonly format: 1
  readonly startedAt: string
  readonly quick: boolean
  readonly settings: Readonly<Record<string, string>>
  readonly benchmarks: readonly BenchmarkResult[]
}

/** Reads a result file. Throws if the file is not a result of a run. */
export async function readResult(path: string): Promise<RunResult> {
  const read = JSON.parse(await readFile(path, 'utf8')) as Partial<RunResult>
  if (read.format !== 1 || read.benchmarks === undefined) throw new Error(`${path} is not a result of a benchmark run`)
  return read as RunResult
}
