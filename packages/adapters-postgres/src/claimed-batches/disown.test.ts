import { Client } from 'pg'
import { freshDatabase } from '../../testing/fresh-database.ts'

test('a claim that arrives after it was disowned, even repeatedly, claims nothing', async () => {
  const database = await freshDatabase()
  const client = new Client({ connectionString: database.connectionString })
  await client.connect()
  try {
    await client.query(`insert into dispatcher (id, lease_until) values (1, now() + interval '1 min')`)
    const stops = async () =>
      (await client.query<{ ids: number[] }>('select ids from claimed_batch where dispatcher = 1 and seq = 5')).rows
    for (let times = 0; times < 3; times++) {
      await client.query('select disown(1, 5)')
      expect(await stops()).toEqual([{ ids: [] }])
    }
  } finally {
    await client.end()
    await database.drop()
  }
})
