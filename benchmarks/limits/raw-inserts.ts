import { numberAt } from '../loads/numbers.ts'
import { text } from '../loads/send-requests.ts'
import { closeClients, inParallel, openClients } from './connections.ts'

export interface RawInserts {
  readonly connectionString: string
  readonly connections: number
  /** Rows of one statement. */
  readonly rows: number
  /** Maximum number of statements. The run ends earlier if its time is over. */
  readonly statements?: number
  readonly seconds?: number
}

const insert = `insert into raw_recipient (account_id, msisdn, price, body)
  select $1::int, n, $2::int, $3::text from unnest($4::bigint[]) n`
const variants = 32

/** Inserts rows set by set, each set a durable commit. */
export async function runRawInserts(limit: RawInserts) {
  const { rows, statements = Infinity, seconds = Infinity } = limit
  // Values are prepared beforehand, so that the client is not the limit.
  const sets = Array.from(
    { length: variants },
    (_, v) => `{${Array.from({ length: rows }, (_number, i) => numberAt(v * rows + i)).join()}}`,
  )
  const clients = await openClients(limit.connectionString, limit.connections)
  let begun = 0
  const end = performance.now() + seconds * 1000
  const took = await inParallel(
    clients,
    () => begun < statements && performance.now() < end,
    async (client) => {
      const numbers = sets[begun++ % variants]
      await client.query({ name: 'insert', text: insert, values: [1, 10, text, numbers] })
    },
  )
  await closeClients(clients)
  return { rows: begun * rows, seconds: took }
}
