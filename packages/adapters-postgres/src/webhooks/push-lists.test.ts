import { Client } from 'pg'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'

let database: FreshDatabase
let client: Client

beforeEach(async () => {
  database = await freshDatabase()
  client = new Client({ connectionString: database.connectionString })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await database.drop()
})

test('open lists are dropped once their last event is too old, for each endpoint and few at a time', async () => {
  const days = (count: number): string => `now() - interval '${count} days'`
  await client.query(`alter table webhook drop constraint webhook_account_id_fkey`)
  await client.query(`
    insert into webhook (account_id, url, events, list_size, with_text, created_at, secret)
    select 1, 'https://example.com', 255, 1, false, ${days(90)}, 'sealed' from generate_series(1, 2)`)
  await client.query(`
    insert into webhook_list (webhook_id, state, from_at, to_at, due_at, events)
    select webhook.id, list.state, from_at, to_at, now(), '[]'
    from webhook,
      (values (0, ${days(40)}, ${days(31)}), (0, ${days(40)}, ${days(29)}), (0, ${days(2)}, ${days(1)}), (1, ${days(40)}, ${days(40)}))
        list(state, from_at, to_at), generate_series(1, 3)`)
  const purged: unknown[] = []
  do purged.push((await client.query<{ purged: number }>('select purge_webhooks(4, 30) purged')).rows[0]?.purged)
  while (purged.at(-1) !== 0)
  expect(purged).toEqual([4, 2, 0])
  const { rows } = await client.query(`
    select webhook_id, state, to_at < ${days(30)} old, count(*)::int from webhook_list group by 1, 2, 3 order by 1, 2, 3`)
  expect(rows.map(Object.values)).toEqual(
    [1, 2].flatMap((id) => [
      [id, 0, false, 6],
      [id, 1, true, 3],
    ]),
  )
})
