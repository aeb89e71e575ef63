import { createClient } from './client.ts'
import type { ServerAddress } from './server-address.ts'

/**
 * Runs `work` while this process has the lock of this name on this schema. The lock is released if the process dies.
 * Rejects if `signal` is aborted before the lock was acquired.
 */
export async function runExclusively(
  address: ServerAddress,
  name: string,
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const client = createClient(address, { application_name: 'gateway exclusive', connectionTimeoutMillis: 2000 })
  client.on('error', () => undefined) // the query that fails reports the error
  const breakOff = (): void => void client.end().catch(() => undefined)
  signal.addEventListener('abort', breakOff, { once: true })
  try {
    await client.connect()
    // The oid of this schema's table makes the key unique to this schema, as for migrations.
    const key = `hashtextextended($1, 'schema_migration'::regclass::oid::bigint)`
    await client.query(`select pg_advisory_lock(${key})`, [name])
    await work()
  } finally {
    signal.removeEventListener('abort', breakOff)
    await client.end()
  }
}
