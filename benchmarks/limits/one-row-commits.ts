import { latenciesOf } from '../loads/latencies.ts'
import { numberAt } from '../loads/numbers.ts'
import { text } from '../loads/send-requests.ts'
import { closeClients, inParallel, openClients } from './connections.ts'

export interface OneRowCommits {
  readonly connectionString: string
  readonly connections: number
  readonly seconds: number
}

const insert = `insert into raw_recipient (account_id, msisdn, price, body) values ($1::int, $2::bigint, $3::int, $4::text)`

/** Inserts row by row, each a durable commit. */
export async function runOneRowCommits({ connectionString, connections, seconds }: OneRowCommits) {
  const clients = await openClients(connectionString, connections)
  const milliseconds: number[] = []
  let rows = 0
  const end = performance.now() + seconds * 1000
  const took = await inParallel(
    clients,
    () => performance.now() < end,
    async (client) => {
      const at = performance.now()
      await client.query({ name: 'insert', text: insert, values: [1, numberAt(rows++), 10, text] })
      milliseconds.push(performance.now() - at)
    },
  )
  await closeClients(clients)
  return { rows, seconds: took, latencies: latenciesOf(milliseconds) }
}
