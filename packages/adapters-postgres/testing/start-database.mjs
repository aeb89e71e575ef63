import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Folders whose tests start no process. */
const startNoApp = /^(?:apps|packages)\b/
/**
 * Patterns of folders: `useNone` has the folders whose tests use no PostgreSQL. `useTheirOwn` also has the folders
 * whose tests do not need the shared PostgreSQL. The tests in `tests`, except those in `together`, start their own
 * PostgreSQL on copies of the template.
 */
const useNone = /^(?:apps|packages\/(?!adapters-postgres))\b/
const useTheirOwn = /^(?:tests(?!\/together)|apps|packages\/(?!adapters-postgres))\b/

/**
 * Settings of the server that tests share. It need not survive a power failure, and its log is short to save memory.
 */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '256MB',
  io_method: 'sync',
  max_logical_replication_workers: 0,
}

/**
 * Prepares databases for a test run; Jest calls it once. Makes a cluster that tests copy if they start a PostgreSQL of
 * their own, and starts one PostgreSQL for the other tests. Does nothing if all folders of the run need neither.
 */
export default async function startDatabase({ nonFlagArgs = [] }) {
  const areAll = (pattern) => nonFlagArgs.length > 0 && nonFlagArgs.every((path) => pattern.test(path))
  if (areAll(useNone)) return
  const [{ makeClusters }, { startEmbeddedPostgres }] = await Promise.all([
    import('./make-clusters.mjs'),
    import('@gateway/embedded-postgres'),
  ])
  const { folder, empty, migrated } = await makeClusters()
  process.env.GATEWAY_TEST_FOLDER = folder
  process.env.GATEWAY_TEST_CLUSTER = migrated
  if (!areAll(startNoApp)) {
    const { bundleApps } = await import('../../../scripts/bundle.mjs')
    const bundles = join(folder, 'bundles')
    await bundleApps(bundles)
    process.env.GATEWAY_TEST_BUNDLES = bundles
  }
  const server = areAll(useTheirOwn) ? undefined : await startEmbeddedPostgres({ dataDir: empty, settings })
  if (server !== undefined) process.env.GATEWAY_TEST_DATABASE = server.connectionString
  globalThis.stopTestDatabase = async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
