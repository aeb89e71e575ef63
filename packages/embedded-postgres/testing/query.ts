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

/** Connection that is opened for its first query, and again for the next query after it broke. */
interface LastingConnection {
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Closes the connection. The next query opens another one. */
  close(): Promise<void>
}

/** Makes a connection for tests that query often, because opening one takes 0.1 s of CPU. */
export function lastingConnection(connectionString: string): LastingConnection {
  let current: Promise<pg.Client> | undefined

  function open(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString })
    const opened = client.connect().then(() => client)
    const forget = (): void => {
      if (current === opened) current = undefined
    }
    client.on('error', forget).on('end', forget)
    opened.catch(forget)
    return opened
  }

  return {
    query: async (text, values = []) => {
      current ??= open()
      return (await (await current).query<Record<string, unknown>>(text, values)).rows
    },
    close: async () => {
      const closing = current
      current = undefined
      await closing?.then((client) => client.end()).catch(() => undefined)
    },
  }
}
