import { Client } from 'pg'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { accessesOf, type LentConnection } from '../../testing/plan.ts'
import { openPools, type Pools } from '../pools.ts'
import { serverAddress } from '../server-address.ts'
import { defaultSettings, silent } from '../settings.ts'
import { milliseconds } from '../sql/arrays.ts'
import { replayEvent } from '../sql/replay-events.ts'
import { valuesOf, type ValuesOf } from '../sql/statement.ts'

const open = {} as { database: FreshDatabase; pools: Pools; client: Client; hot: LentConnection }
const lists = 20_000

/** Creates an endpoint with a list of one reply every two minutes for a month, without statistics. */
beforeAll(async () => {
  const database = await freshDatabase()
  const pools = openPools(serverAddress(database.connectionString), defaultSettings, silent)
  const client = new Client({ connectionString: database.connectionString })
  await client.connect()
  await client.query(`
    alter table webhook drop constraint webhook_account_id_fkey;
    insert into webhook (account_id, url, events, list_size, with_text, created_at, secret)
    select 1, 'https://example.com', 255, 1, false, now(), 'sealed' from generate_series(1, 3);
    insert into inbound_message (at, account_id, carrier, from_address, text)
    select now() - i * interval '2 minutes', 1, 0, '27820000000', 'hi' from generate_series(1, ${lists}) i;
    insert into webhook_list (webhook_id, state, from_at, to_at, due_at, events)
    select 1, case id % 4 when 3 then 0 else 1 + id % 4 end, at, at + interval '1 minute', at, json_build_array(json_build_object(
      'type', 4, 'sequence', 1, 'at', ${milliseconds('at')}, 'from', '27820000000', 'subjects', json_build_array(id)))
    from inbound_message;
    insert into webhook_event (webhook_id, type, sequence, at, count, subjects)
    select 1 + i % 2, 4, 1, now(), 1, array[i] from generate_series(1, 10000) i`)
  Object.assign(open, { database, pools, client, hot: await pools.hot.connect() })
}, 120_000)

afterAll(async () => {
  open.hot.release()
  await open.client.end()
  await open.pools.close(1)
  await open.database.drop()
})

type Key = Omit<ValuesOf<typeof replayEvent>, 'replay'>
const anywhere = { sequence: null, number: null, at: null }

/** Starts a replay of an endpoint and returns how many rows of `webhook_list` the step for the event `key` reads. */
async function listsRead(webhook: number, key: Key): Promise<number> {
  const { rows } = await open.client.query<{ id: number }>(
    `insert into webhook_replay (webhook_id, account_id, event) select $1, 1 + max(account_id), 'x'
     from (select account_id from webhook_replay union all select 0) replay returning id`,
    [webhook],
  )
  return (await accessesOf(open.hot, replayEvent, { replay: rows[0]?.id ?? 0, ...key }))
    .filter(({ table }) => table === 'webhook_list')
    .reduce((sum, each) => sum + each.rows, 0)
}

test.each([1, lists / 2, lists])(
  'one event is replayed without reading other lists, also event number %d',
  async (id) => {
    const key = { types: [4, 5], subject: id, ...anywhere }
    expect(await listsRead(1, key)).toBe(1)
    const { rows } = await open.client.query<{ id: number }>('select max(id) id from webhook_replay')
    await open.hot.query(replayEvent.text, valuesOf(replayEvent, { replay: rows[0]?.id ?? 0, ...key }))
    const done = await open.client.query('select state, events from webhook_replay order by id desc limit 1')
    expect(done.rows).toEqual([{ state: 1, events: '1' }])
  },
)

test('an event that the endpoint never had is searched in few lists', async () => {
  expect(await listsRead(2, { types: [4, 5], subject: lists / 2, ...anywhere })).toBe(0)
  expect(await listsRead(1, { types: [0, 1, 2, 3], subject: lists / 2, ...anywhere, sequence: 4 })).toBe(0)
  const at = Date.now() - 86_400_000
  expect(await listsRead(1, { types: [6], subject: 0, ...anywhere, number: 27820000000, at })).toBeLessThanOrEqual(2)
})

test('no more waiting rows are read than are counted', async () => {
  await open.client.query('begin')
  const { rows } = await open.client.query('select condition, events, lists, dead from webhook_totals(100)')
  expect(rows).toEqual([{ condition: 'active', events: '200', lists: '100', dead: '100' }])
  const read = await open.client.query<{ relname: string; rows: string }>(
    `select relname, seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables where relname like 'webhook_%'`,
  )
  await open.client.query('rollback')
  const rowsOf = new Map(read.rows.map(({ relname, rows: count }) => [relname, Number(count)]))
  // The maximum is the number of counted rows plus the steps from one endpoint to the next.
  expect(rowsOf.get('webhook_event')).toBeLessThanOrEqual(2 * 100 + 4)
  expect(rowsOf.get('webhook_list')).toBeLessThanOrEqual(2 * 100 + 8)
})
