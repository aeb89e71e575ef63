import pg from 'pg'

/** Opens connections for loads that send only prepared statements. */
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

/** Runs `one` on each connection repeatedly until `mayContinue` returns false. */
export async function inParallel<Client>(
  clients: readonly Client[],
  mayContinue: () => boolean,
  one: (client: Client) => Promise<void>,
): Promise<number> {
  const start = performance.now()
  await Promise.all(
    clients.map(async (client) => {
      while (mayContinue()) await one(client)
    }),
  )
  return (performance.now() - start) / 1000
}
