import { DatabaseError, type Client, type ClientBase } from 'pg'
import { createClient } from './client.ts'
import type { ServerAddress } from './server-address.ts'

const connectionSeconds = 5
const rounds = 3

/**
 * Throws if the process that answered, `pid`, is not the one that the server named when the connection was made
 * (BackendKeyData of the protocol): then something between keeps connections of its own, and names, settings and locks
 * are not where they seem to be.
 */
export function refusePooler(client: ClientBase, pid: number): void {
  const { processID } = client as ClientBase & { readonly processID: number }
  if (pid === processID) return
  throw new Error(
    'the database is reached through a pooler (PgBouncer or the like), which gives a connection the process of another one. ' +
      'Set DATABASE_URL to the address and port of PostgreSQL itself.',
  )
}

/**
 * The same for transactions of two connections in turn: a pooler that names processes rightly gives the one that of the
 * other.
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
 * What the system or the driver says when nobody answers names neither the database nor, with several addresses,
 * anything.
 */
async function reach(client: Client): Promise<void> {
  await client.connect().catch((cause: unknown) => {
    if (cause instanceof DatabaseError || !(cause instanceof Error)) throw cause
    const said = cause instanceof AggregateError ? cause.errors.map(String).join('; ') : cause.message
    throw new Error(`the database cannot be reached: ${said}`, { cause })
  })
}

async function judge(client: Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  refusePooler(client, rows[0]?.pid ?? 0)
}
