import pg from 'pg'

/** Connections that know one thing: to send prepared statements. */
export async function openClients(connectionString: string, count: number): Promise<pg.Client[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const client = new pg.Client({ connectionString, application_name: 'limit' })
      await client.connect()
      return client
    }),
  )
}

export const closeClients = async (clients: readonly pg.Client[]): Promise<void> => {
  await Promise.all(clients.map((client) => client.end()))
}

/** Each does `one` again and again until `goesOn` says no. */
export async function inParallel<Client>(
  clients: readonly Client[],
  goesOn: () => boolean,
  one: (client: Client) => Promise<void>,
): Promise<number> {
  const start = performance.now()
  await Promise.all(
    clients.map(async (client) => {
      while (goesOn()) await one(client)
    }),
  )
  return (performance.now() - start) / 1000
}
