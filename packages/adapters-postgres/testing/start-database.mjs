import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Jest runs this once. Where only other folders are asked for, nobody waits for a database that no test of theirs uses. */
const elsewhere = /^(?:apps|tests|packages\/(?!adapters-postgres))\b/

/** One PostgreSQL for all tests of a run. It forgets nothing but a power failure, so it need not wait for the disk. */
export default async function startDatabase({ nonFlagArgs = [] }) {
  if (nonFlagArgs.length > 0 && nonFlagArgs.every((path) => elsewhere.test(path))) return
  const { startEmbeddedPostgres, removeCluster } = await import('@gateway/embedded-postgres')
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-'))
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
