import type { Cost } from '../figures/costs.ts'
import type { Scene } from '../ground/scene.ts'
import { measured } from '../ground/usage.ts'
import type { RawInserts } from '../limits/raw-inserts.ts'
import type { Worker } from '../loads/workers.ts'

export interface Limit extends Cost {
  readonly perSecond: number
}

/** The limit that sends of many are measured against: as fast as `pg` inserts sets of rows. */
export async function rawInserting(
  scene: Scene,
  worker: Worker,
  limit: Omit<RawInserts, 'connectionString' | 'connections'>,
  /** More than cores: while one waits for the disk another works. */
  connections = 4,
): Promise<Limit> {
  const { connectionString } = scene.database
  const { result, usage } = await measured(scene.server, [], () =>
    worker.run('rawInserts', { connectionString, connections, ...limit }),
  )
  return { usage, count: result.rows, generator: result.cpu, perSecond: result.rows / result.seconds }
}
