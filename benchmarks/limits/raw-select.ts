import { latenciesOf } from '../loads/latencies.ts'
import { closeClients, inParallel, openClients } from './connections.ts'

export interface RawSelect {
  readonly connectionString: string
  readonly connections: number
  readonly seconds: number
  /** Lists of ids, one for each select, used in turn. */
  readonly ids: readonly (readonly number[])[]
}

const select = `select id, code, code_at from raw_status where id = any ($1::bigint[])`
// Values stay text, because parsing times would cost the client more than the select costs the server.
const types = { getTypeParser: () => (value: unknown) => value }

/** Selects the rows of each list of ids by primary key. */
export async function runRawSelect({ connectionString, connections, seconds, ids }: RawSelect) {
  const lists = ids.map((list) => `{${list.join()}}`)
  const clients = await openClients(connectionString, connections)
  const milliseconds: number[] = []
  let selects = 0
  let wrong = 0
  const end = performance.now() + seconds * 1000
  const took = await inParallel(
    clients,
    () => performance.now() < end,
    async (client) => {
      const turn = selects++ % lists.length
      const at = performance.now()
      const { rows } = await client.query({ name: 'select', text: select, values: [lists[turn]], types })
      milliseconds.push(performance.now() - at)
      if (rows.length !== ids[turn]?.length) wrong++
    },
  )
  await closeClients(clients)
  return { selects, seconds: took, latencies: latenciesOf(milliseconds), wrong }
}
