import { DatabaseError, type Client, type ClientBase } from 'pg'
import { createClient } from './client.ts'
import { announcedProcess } from './driver.ts'
import type { ServerAddress } from './server-address.ts'

const connectionSeconds = 5
const rounds = 3

/**
 * Throws if `pid`, the server process that answered, is not the one announced when the connection was made
 * (BackendKeyData of the protocol). Then a pooler in between has connections of its own, so that prepared statements,
 * settings and locks may belong to another connection.
 */
export function refusePooler(client: ClientBase, pid: number): void {
  if (pid === announcedProcess(client)) return
  throw new Error(
    'the database is reached through a pooler (PgBouncer or the like), which gives a connection the process of another one. ' +
      'Set DATABASE_URL to the address and port of PostgreSQL itself.',
  )
}

/**
 * Throws as `refusePooler` does, after alternating transactions on two connections. This finds poolers that announce
 * the right process but later give one connection the process of the other.
 */
export async function refuseChangingBackends(address: ServerAddress): Promise<void> {
  const options = {
    application_name: 'gateway check',
    connectionTimeoutMillis: connectionSeconds * 1000,
    query_timeout: connectionSeconds * 1000,
  }
  const [one, other] = [createClient(address, options), createClient(address, options)] as const
  try {
    await reach(one)
    await reach(other)
    for (let round = 0; round < rounds; round++) {
      await judge(one)
      await other.query('begin')
      await judge(other)
      await judge(one)
      await other.query('commit')
    }
  } finally {
    await Promise.all([one, other].map((client) => client.end().catch(() => undefined)))
  }
}

/**
 * Connects. Rewords the error if the server does not answer, because the original message does not mention the database
 * and is empty if the host name has several addresses.
 */
async function reach(client: Client): Promise<void> {
  await client.connect().catch((cause: unknown) => {
    if (cause instanceof DatabaseError || !(cause instanceof Error)) throw cause
    const reason = cause instanceof AggregateError ? cause.errors.map(String).join('; ') : cause.message
    throw new Error(`the database cannot be reached: ${reason}`, { cause })
  })
}

async function judge(client: Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  refusePooler(client, rows[0]?.pid ?? 0)
}
