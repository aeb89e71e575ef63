import type { Started } from './processes.ts'
import type { Server } from './postgres.ts'

/** Cost of a piece of work. */
export interface Usage {
  readonly seconds: number
  /** CPU time of each process of the gateway, in µs, in the order of the arguments. */
  readonly apps: readonly number[]
  /** Peak resident memory of each process, in MB. */
  readonly memory: readonly number[]
  /** CPU time of PostgreSQL, in µs, or NaN if it is not known. */
  readonly postgres: number
  /** WAL written, in bytes. */
  readonly wal: number
}

/** Runs the work after a checkpoint, so that earlier writes are not measured. */
export async function measured<T>(
  server: Server,
  apps: readonly Started[],
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly usage: Usage }> {
  await server.checkpoint()
  const cpus = (): Promise<number[]> => Promise.all(apps.map((app) => app.cpu()))
  const [before, postgres, wal] = [await cpus(), await server.cpu(), await server.wal()]
  const start = performance.now()
  const result = await work()
  const seconds = (performance.now() - start) / 1000
  const after = await cpus()
  const usage = {
    seconds,
    apps: after.map((cpu, at) => cpu - (before[at] ?? NaN)),
    memory: await Promise.all(apps.map(async (app) => (await app.memory()).peakMegabytes)),
    postgres: (await server.cpu()) - postgres,
    wal: (await server.wal()) - wal,
  }
  return { result, usage }
}
