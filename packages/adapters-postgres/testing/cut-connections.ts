import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'

export interface Cutting {
  /** Stops, and tells how many connections were cut off. */
  stop(): Promise<number>
}

/**
 * Ends connections for messages of this database at random moments, whatever they are at, until it is stopped: each time
 * about half of those that are at work.
 */
export async function cutConnections(connectionString: string): Promise<Cutting> {
  const client = new Client({ connectionString })
  await client.connect()
  const work = { isOver: false, cut: 0 }
  const cutting = (async () => {
    while (!work.isOver) {
      const { rowCount } = await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'gateway messages' and state = 'active' and random() < 0.5`)
      work.cut += rowCount ?? 0
      await setTimeout(Math.random() * 15)
    }
  })()
  return {
    stop: async () => {
      work.isOver = true
      await cutting
      await client.end()
      return work.cut
    },
  }
}
