import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import { testChance } from '@gateway/core/testing'

const atWork = `
select pg_terminate_backend(pid) from pg_stat_activity
where application_name = 'gateway messages' and random() < 0.5 and pid in (
  select l.pid from pg_locks l join pg_class c on c.oid = l.relation where c.relnamespace = current_schema()::regnamespace
    and l.database = (select oid from pg_database where datname = current_database()))`

export interface Cutting {
  /** Stops, and returns the number of ended connections. */
  stop(): Promise<number>
}

/**
 * Ends hot connections at random moments until it is stopped. Each time it ends about half of the connections that are
 * using tables of this schema. It pauses for up to three times as long as a connection and its first statement take,
 * because otherwise a slow machine would make no progress at all.
 */
export async function cutConnections(connectionString: string): Promise<Cutting> {
  const client = new Client({ connectionString })
  const chance = testChance()
  const begun = performance.now()
  await client.connect()
  await client.query('select setseed($1)', [chance.between(-1, 1)])
  const pauseMax = Math.max(15, 3 * (performance.now() - begun))
  const work = { isOver: false, cut: 0 }
  const cutting = (async () => {
    while (!work.isOver) {
      const { rowCount } = await client.query(atWork)
      work.cut += rowCount ?? 0
      await setTimeout(chance.between(0, pauseMax))
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
