import type { Cost } from '../figures/costs.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import { measured } from '../environment/usage.ts'
import type { RawInserts } from '../limits/raw-inserts.ts'
import type { Worker } from '../loads/workers.ts'

export interface Limit extends Cost {
  readonly perSecond: number
}

/** Measures the limit for bulk sends: the rate at which `pg` inserts sets of rows. */
export async function rawInserting(
  environment: BenchmarkEnvironment,
  worker: Worker,
  limit: Omit<RawInserts, 'connectionString' | 'connections'>,
  /** More connections than cores, because some wait for the disk. */
  connections = 4,
): Promise<Limit> {
  const { connectionString } = environment.database
  const { result, usage } = await measured(environment.server, [], () =>
    worker.run('rawInserts', { connectionString, connections, ...limit }),
  )
  return { usage, count: result.rows, generator: result.cpu, perSecond: result.rows / result.seconds }
}
