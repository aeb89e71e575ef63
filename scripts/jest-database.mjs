import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Tests under these folders need no database: a run of only them does not wait for one. */
const without = /^packages\/(?!adapters-postgres)/

/** One PostgreSQL for all tests of a run. It forgets nothing but a power failure, so it need not wait for the disk. */
export default async function startDatabase(globalConfig) {
  const wanted = globalConfig.nonFlagArgs ?? []
  if (wanted.length > 0 && wanted.every((path) => without.test(path))) return
  const { startEmbeddedPostgres, removeCluster } = await import('../packages/embedded-postgres/dist/index.js')
  const dataDir = await mkdtemp(join(tmpdir(), 'gw-'))
  await chmod(dataDir, 0o755) // for the user that PostgreSQL runs as where we are root
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
  const server = await startEmbeddedPostgres({ dataDir, settings })
  process.env.GATEWAY_TEST_DATABASE = server.connectionString
  globalThis.stopTestDatabase = async () => {
    await server.stop()
    await removeCluster(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
}
