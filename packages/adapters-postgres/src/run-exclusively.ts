import { createClient } from './client.ts'
import type { ServerAddress } from './server-address.ts'

/**
 * Runs `work` while this process holds the lock of `what` on this schema, which whoever dies gives back. Rejects if
 * `signal` is aborted before the lock is there.
 */
export async function runExclusively(
  address: ServerAddress,
  what: string,
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const client = createClient(address, { application_name: 'gateway exclusive', connectionTimeoutMillis: 2000 })
  client.on('error', () => undefined) // what it breaks is told by the query that fails
  const breakOff = (): void => void client.end().catch(() => undefined)
  signal.addEventListener('abort', breakOff, { once: true })
  try {
    await client.connect()
    // The number of this schema's table makes the lock this schema's own, as for migrations.
    const key = `hashtextextended($1, 'schema_migration'::regclass::oid::bigint)`
    await client.query(`select pg_advisory_lock(${key})`, [what])
    await work()
  } finally {
    signal.removeEventListener('abort', breakOff)
    await client.end()
  }
}
