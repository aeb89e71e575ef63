import { Client } from 'pg'
import { postgresPorts, type PostgresPorts } from '../src/postgres-ports.ts'
import { cuttingProxy, type CuttingProxy } from './cutting-proxy.ts'
import { freshDatabase } from './fresh-database.ts'

/** New database that is reached directly and through a network that can break. */
export interface CuttableDatabase {
  readonly connectionString: string
  readonly proxy: CuttingProxy
  /**
   * Ports that use the network. Their time limits are long, so that only the test ends a call, and not a time limit.
   */
  readonly cuttable: PostgresPorts
  readonly direct: PostgresPorts
  readonly client: Client
  /** Returns the server process that waits for a lock of this client. */
  readonly blockedBy: (holder: Client) => Promise<number | undefined>
  drop(): Promise<void>
}

export async function cuttableDatabase(): Promise<CuttableDatabase> {
  const database = await freshDatabase()
  const { connectionString } = database
  const proxy = await cuttingProxy(connectionString)
  const settings = { lockSeconds: 60, statementSeconds: 60, longStatementSeconds: 60 }
  const cuttable = postgresPorts({ connectionString: proxy.connectionString, settings })
  const direct = postgresPorts({ connectionString })
  const client = new Client({ connectionString })
  await client.connect()
  return {
    connectionString,
    proxy,
    cuttable,
    direct,
    client,
    blockedBy: async (holder) => {
      const { processID } = holder as Client & { readonly processID: number }
      const text = 'select pid from pg_stat_activity where $1 = any (pg_blocking_pids(pid))'
      return (await client.query<{ pid: number }>(text, [processID])).rows[0]?.pid
    },
    drop: async () => {
      await Promise.all([cuttable.close(1), direct.close(1), client.end()])
      await proxy.close()
      await database.drop()
    },
  }
}
