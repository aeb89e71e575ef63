import { readFile } from 'node:fs/promises'
import type { Figure } from './figure.ts'

/** A condition without which the figures of a benchmark mean nothing. */
export interface Check {
  readonly what: string
  /** Undefined: it holds. */
  readonly problem?: string
}

/** Where the time of a message goes: CPU microseconds a message of one stage in one process. */
export interface Stage {
  readonly load: 'sends of 1000' | 'single sends' | 'status of 1000'
  readonly process: 'node' | 'PostgreSQL'
  readonly stage: string
  readonly microseconds: number
}

/** How a cost grows: the same path on a small and on a large database. */
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

/** What a run leaves. It names no machine, no user and no folder. */
export interface RunResult {
  readonly format: 1
  readonly startedAt: string
  readonly quick: boolean
  readonly settings: Readonly<Record<string, string>>
  readonly benchmarks: readonly BenchmarkResult[]
}

/** Throws where the file is not one of ours. */
export async function readResult(path: string): Promise<RunResult> {
  const read = JSON.parse(await readFile(path, 'utf8')) as Partial<RunResult>
  if (read.format !== 1 || read.benchmarks === undefined) throw new Error(`${path} is no result of a benchmark run`)
  return read as RunResult
}
