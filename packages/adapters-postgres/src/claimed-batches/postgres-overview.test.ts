import { Client } from 'pg'
import type { WaitingWork } from '@gateway/core/fleet'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'
import { patientSettings } from '../../testing/patient-settings.ts'

describe('the overview of a large gateway', () => {
  const open = {} as { database: FreshDatabase; postgres: PostgresPorts; client: Client }

  beforeEach(async () => {
    const database = await freshDatabase()
    const client = new Client({ connectionString: database.connectionString })
    await client.connect()
    Object.assign(open, {
      database,
      client,
      postgres: postgresPorts({ connectionString: database.connectionString, settings: patientSettings }),
    })
  })

  afterEach(async () => {
    await open.client.end()
    await open.postgres.close()
    await open.database.drop()
  })

  const queue = () => open.postgres.ports.overview.queue()

  test('every account with waiting messages is listed once, in order, over any number of pages', async () => {
    await open.client.query(`
      insert into account (balance) select 0 from generate_series(1, 5500);
      insert into due (lane, account_id, lo, hi, first_id)
      select l, a, a * 100 + l * 10, a * 100 + l * 10 + 3, a * 100 + l * 10 from generate_series(1, 5500) a, generate_series(0, 1) l
      where a % 3 = 0 and a not between 2000 and 4100;
      insert into later (lane, attempt, account_id, lo, hi, first_id, due_at, at)
      select 0, a % 2, a, a * 100 + 50, a * 100 + 52, a * 100 + 50, now(), now() from generate_series(4200, 5500, 7) a`)
    const listed: WaitingWork[] = []
    for await (const work of queue()) listed.push(work)
    const places = listed.map(({ account, lane }) => account * 2 + (lane === 'bulk' ? 1 : 0))
    expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b))
    const sum = (count: (work: WaitingWork) => number) => listed.reduce((all, work) => all + count(work), 0)
    const waiting = Array.from({ length: 5500 }, (_, i) => i + 1).filter((a) => a % 3 === 0 && (a < 2000 || a > 4100))
    expect(sum(({ due }) => due)).toBe(waiting.length * 6)
    expect(sum(({ scheduled, postponed }) => scheduled + postponed)).toBe(2 * Math.ceil(1301 / 7))
    expect(listed.every(({ due, oldestDue }) => due > 0 === (oldestDue !== undefined))).toBe(true)
  })

  test('a reader that stops early leaves no connection in use', async () => {
    await open.client.query(`
      insert into account (balance) select 0 from generate_series(1, 3000);
      insert into due (lane, account_id, lo, hi, first_id) select 0, a, a, a + 1, a from generate_series(1, 3000) a`)
    for (let i = 0; i < 20; i++) for await (const { account } of queue()) if (account === 2) break
    for await (const { account } of queue()) expect(account).toBeGreaterThan(0)
  })

  test('a dispatcher of a version that stored neither start nor version is listed without them', async () => {
    await open.client.query(
      `insert into dispatcher (id, lease_until, since) values (7, now() + interval '1 min', null)`,
    )
    const dispatchers = await open.postgres.ports.overview.dispatchers()
    expect(dispatchers).toMatchObject([{ id: 7, since: undefined, version: undefined, overdue: false, loads: [] }])
  })

  test('a claim that was disowned before it arrived is not listed as a batch', async () => {
    const { claimedBatches, overview } = open.postgres.ports
    const id = await claimedBatches.register(60)
    await open.client.query('select disown($1, 1)', [id])
    expect((await overview.dispatchers()).map(({ loads }) => loads)).toEqual([[]])
  })
})
