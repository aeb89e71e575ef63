import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Benchmark, Outcome } from './benchmark.ts'
import { benchmarkReport } from './figures/report.ts'
import type { BenchmarkResult, RunResult } from './figures/result.ts'
import { checkEnvironment } from './environment/checks.ts'
import { machineCpu, ownCpu } from './environment/cpu.ts'
import { settingsOf } from './environment/machine.ts'
import { openServer, type Server } from './environment/postgres.ts'
import { endAll } from './environment/processes.ts'
import { openEnvironment, type BenchmarkEnvironment } from './environment/environment.ts'
import { endWorkers } from './loads/workers.ts'

export interface Run {
  readonly benchmarks: readonly Benchmark[]
  readonly quick: boolean
  /** URL of a PostgreSQL to use instead of starting one. */
  readonly databaseUrl: string | undefined
  /** True if each commit of the started PostgreSQL waits for a standby. */
  readonly hasStandby: boolean
  readonly say: (line: string) => void
  /** Signal that aborts the run: all processes are ended, files are removed, and the run rejects. */
  readonly stopping: AbortSignal
}

/** Runs benchmarks one after the other on one PostgreSQL and removes everything afterwards. */
export async function runBenchmarks(run: Run): Promise<RunResult> {
  const folder = await mkdtemp(join(tmpdir(), 'gw-benchmark-'))
  // The user of PostgreSQL must be able to enter the folder.
  await chmod(folder, 0o755)
  const broken = new Promise<never>((_, reject) =>
    run.stopping.addEventListener('abort', () => reject(new Error('the run was broken off'))),
  )
  broken.catch(() => undefined)
  let server: Server | undefined
  try {
    server = await openServer(folder, run.databaseUrl, run.hasStandby)
    return await Promise.race([onServer(run, server, folder), broken])
  } finally {
    endWorkers()
    await endAll()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function onServer(run: Run, server: Server, folder: string): Promise<RunResult> {
  const startedAt = new Date().toISOString()
  const settings = await settingsOf(server)
  const benchmarks: BenchmarkResult[] = []
  for (const benchmark of run.benchmarks) {
    run.say(`${benchmark.name} …`)
    const result = await one(run, benchmark, server, folder)
    benchmarks.push(result)
    run.say(`${benchmarkReport(result)}\n`)
  }
  return { format: 1, startedAt, quick: run.quick, settings, benchmarks }
}

async function one(
  { quick, say }: Run,
  benchmark: Benchmark,
  server: Server,
  folder: string,
): Promise<BenchmarkResult> {
  const { name, title } = benchmark
  const start = performance.now()
  const others = await watchOthers(server)
  const environment = await openEnvironment(server, folder, { name, quick, say })
  const outcome = await outcomeOf(benchmark, environment)
  await environment.end()
  const all = [
    ...outcome.figures,
    { name: 'CPU that other processes used meanwhile', unit: 'cores', rounds: [await others()] },
  ]
  const figures = all.filter(({ rounds }) => rounds.every(Number.isFinite))
  const unknown = all.filter((figure) => !figures.includes(figure)).map((figure) => figure.name)
  const notes = unknown.length === 0 ? outcome.notes : [...outcome.notes, `Not measured here: ${unknown.join('; ')}.`]
  return {
    name,
    title,
    ...outcome,
    figures,
    notes,
    checks: environment.checks,
    seconds: (performance.now() - start) / 1000,
  }
}

/** Reports the failure of one benchmark among its checks, so that the others continue. */
async function outcomeOf(benchmark: Benchmark, environment: BenchmarkEnvironment): Promise<Outcome> {
  try {
    const outcome = await benchmark.run(environment)
    await checkEnvironment(environment)
    return outcome
  } catch (error) {
    environment.check('it ran to its end', error instanceof Error ? error.message : String(error))
    return { figures: [], notes: [] }
  }
}

/**
 * Returns the cores used by the rest of the machine, including kernel threads, because figures of a busy machine are
 * unreliable.
 */
async function watchOthers(server: Server): Promise<() => Promise<number>> {
  const others = async (): Promise<number> => (await machineCpu()) - (await ownCpu()) - (await server.cpu())
  const before = await others()
  const start = performance.now()
  return async () => Math.max(0, ((await others()) - before) / 1000 / (performance.now() - start))
}
