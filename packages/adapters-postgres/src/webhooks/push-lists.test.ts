import { Client } from 'pg'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { listsOfBatch } from './lists-of-batch.ts'
import { storedEventsOf } from './stored-event.ts'

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

test('an open list is dropped once its last event is too old, of each endpoint and few at a time', async () => {
  const days = (count: number): string => `now() - interval '${count} days'`
  await client.query(`alter table webhook drop constraint webhook_account_id_fkey`)
  await client.query(`
    insert into webhook (account_id, url, events, list_size, with_text, created_at, secret)
    select 1, 'https://example.com', 255, 1, false, ${days(90)}, 'sealed' from generate_series(1, 2)`)
  await client.query(`
    insert into webhook_list (id, webhook_id, state, from_at, to_at, due_at, events)
    select row_number() over (), webhook.id, list.state, from_at, to_at, now(), '[]'
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

test('a batch that is old is dropped once none of its lists is left, and one that is leased is not', async () => {
  const batch = (days: number, open: number, lease: string): string =>
    `(1, 1, now() + interval '${lease}', 1, 1, ${open}, now() - interval '${days} days', now() - interval '${days} days', '[]')`
  await client.query(`alter table webhook drop constraint webhook_account_id_fkey`)
  await client.query(`
    insert into webhook (account_id, url, events, list_size, with_text, created_at, secret)
    values (1, 'https://example.com', 255, 1, false, now(), 'sealed')`)
  await client.query(`
    insert into webhook_batch (webhook_id, claimer, due_at, list_size, lists, open, from_at, to_at, events)
    values ${[batch(31, 0, '-1 day'), batch(31, 0, '-1 day'), batch(31, 1, '-1 day'), batch(31, 1, '30 s'), batch(29, 0, '-1 day')].join()}`)
  await client.query(`insert into webhook_list (id, webhook_id, state, due_at) values (20000, 1, 1, now())`)
  for (const purged of [2, 0])
    expect((await client.query('select purge_webhooks(10, 30) purged')).rows).toEqual([{ purged }])
  const { rows } = await client.query('select id from webhook_batch order by id')
  expect(rows).toEqual([{ id: '2' }, { id: '4' }, { id: '5' }])
})

test.each([1, 3, 4, 100])('lists of %d are cut by the database as by node', async (size) => {
  const head = `0,4,1700000000123,0,7,20,true,null,null,null,"a \\"b\\" \\\\ é"`
  const events = `[[${head},[1,2,3,4,5,6,7],["27001","27002","27003","27004","27005","27006","27007"]],[4,1,1700000000000,null,null,null,null,"x",null,9,null,[8],null],[${head},[9,10],["1","2"]]]`
  const lists = listsOfBatch(storedEventsOf(events), size)
  const places = Array.from({ length: lists.length + 1 }, (_, i) => i).filter((i) => i !== 1)
  const { rows } = await client.query<{ place: number; events: string; from_at: Date; to_at: Date }>(
    'select * from cut_webhook_events($1, $2, $3) order by place',
    [events, size, places],
  )
  const wanted = places.flatMap((place) => (lists[place] === undefined ? [] : { place, events: lists[place] }))
  expect(rows.map(({ place, events: cut }) => ({ place, events: storedEventsOf(cut) }))).toEqual(wanted)
  for (const { events: cut, from_at, to_at } of rows) {
    const times = storedEventsOf(cut).map(([, , at]) => at)
    expect([from_at.getTime(), to_at.getTime()]).toEqual([Math.min(...times), Math.max(...times)])
  }
})
