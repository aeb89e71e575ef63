import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Tests of these start no process. */
const startNoApp = /^(?:apps|packages)\b/
/**
 * Tests of these use no PostgreSQL; and those of `tests`, except in `together`, start their own, on copies of the
 * template.
 */
const useNone = /^(?:apps|packages\/(?!adapters-postgres))\b/
const useTheirOwn = /^(?:tests(?!\/together)|apps|packages\/(?!adapters-postgres))\b/

/**
 * For the server of all tests: it forgets nothing but a power failure, and it may be in memory, so its log is short.
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
 * Jest runs this once. For tests that start a PostgreSQL of their own it makes a cluster to copy and names the folder
 * for all that they store; for the others it starts one PostgreSQL. Where only folders are asked for that need neither,
 * it makes nothing.
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
