import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeCluster } from '../src/index.ts'

export interface DataFolder {
  readonly path: string
  remove(): Promise<void>
}

/**
 * A folder for a test, in memory where the run has its data there; every user may enter it: also for root the cluster
 * is inside.
 */
export const dataFolder = async (mode = 0o755): Promise<DataFolder> => {
  const top = await realpath(await mkdtemp(join(process.env['GATEWAY_TEST_FOLDER'] ?? tmpdir(), 'postgres-test-')))
  await chmod(top, mode)
  const path = join(top, 'data')
  return {
    path,
    remove: async () => {
      await removeCluster(path)
      await rm(top, { recursive: true, force: true })
    },
  }
}
