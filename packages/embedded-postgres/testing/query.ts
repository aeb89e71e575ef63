import pg from 'pg'

/** Runs one statement on a connection of its own and returns its rows. */
export const query = async (
  connectionString: string,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text, values)).rows
  } finally {
    await client.end()
  }
}
