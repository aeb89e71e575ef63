import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeCluster } from '../src/index.ts'

export interface DataFolder {
  readonly path: string
  remove(): Promise<void>
}

/**
 * Creates a data folder for a test, in memory if the test run keeps its data there. By default every user may enter the
 * folder, so that the cluster is inside it even for root.
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
