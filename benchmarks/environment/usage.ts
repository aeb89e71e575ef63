import type { Started } from './processes.ts'
import type { Server } from './postgres.ts'

/** What a piece of work cost. */
export interface Usage {
  readonly seconds: number
  /** µs of each process of the product, in the order in which they were given. */
  readonly apps: readonly number[]
  /** The most resident memory that each of them ever had, MB. */
  readonly memory: readonly number[]
  /** µs; NaN where it cannot be told. */
  readonly postgres: number
  /** Bytes. */
  readonly wal: number
}

/** Runs the work after a checkpoint, so that none of the work before is paid for. */
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
