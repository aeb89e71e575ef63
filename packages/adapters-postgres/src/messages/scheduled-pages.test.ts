import { Client, Pool } from 'pg'
import type { AccountId } from '@gateway/core/accounts'
import type { MessageId } from '@gateway/core/messages'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { anAccount, anOrder, numbers, realClock, testChance } from '@gateway/core/testing'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { patientSettings } from '../../testing/patient-settings.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'
import { foldScheduled } from '../sql/scheduled.ts'

let database: FreshDatabase
let gateway: PostgresPorts
let client: Client
let folders: Pool

beforeEach(async () => {
  database = await freshDatabase()
  gateway = postgresPorts({ connectionString: database.connectionString, settings: patientSettings })
  client = new Client({ connectionString: database.connectionString })
  folders = new Pool({ connectionString: database.connectionString, max: 3 })
  // Connections may still be ending when the database is dropped.
  folders.on('error', () => undefined)
  await client.connect()
})
afterEach(async () => {
  await Promise.all([client.end(), folders.end()])
  await gateway.close()
  await database.drop()
})

async function schedule(by: AccountId, to: number, due: Instant): Promise<readonly MessageId[]> {
  const acceptance = await gateway.ports.messages.accept(anOrder(by, { to: numbers(to), due }))
  if (typeof acceptance === 'string') throw new Error(acceptance)
  return acceptance.results.flat().filter((id) => id !== 'insufficient-credits')
}

const fold = (most: number) => folders.query<{ folded: number }>(foldScheduled.text, [1, 2 ** 31 - 1, most])

const rangesOf = `
  select lo, hi, due_at from later where account_id = $1 and attempt = 0
  union all select lo, hi, due_at from due where account_id = $1 and deletable`

/** Reads the page and, in the same snapshot, all waiting messages. */
async function compare(by: AccountId, offset: number, limit: number): Promise<void> {
  await client.query('begin isolation level repeatable read')
  try {
    const page = await client.query<{ id: string | null; total: string }>(
      'select id, total from list_scheduled($1, $2, $3)',
      [by, offset, limit],
    )
    const plain = await client.query<{ id: string }>(
      `select generate_series(lo, hi - 1) id from (${rangesOf}) ranges order by due_at, id`,
      [by],
    )
    const ids = plain.rows.map(({ id }) => id)
    expect(Number(page.rows[0]?.total)).toBe(ids.length)
    expect(page.rows.flatMap(({ id }) => id ?? [])).toEqual(ids.slice(offset, offset + limit))
  } finally {
    await client.query('rollback')
  }
}

test('every page agrees with the waiting messages while messages are accepted, deleted, promoted, expired and counted', async () => {
  const { messages, claimedBatches } = gateway.ports
  const accounts = [await anAccount(gateway.ports, { credits: 1e9 }), await anAccount(gateway.ports, { credits: 1e9 })]
  const known: { readonly by: AccountId; readonly id: MessageId }[] = []
  const draw = (below: number) => testChance().below(below)
  const account = () => accounts[draw(2)]?.id as AccountId
  const start = realClock().now()
  const dues = [-10, 0.3, 1, 1, 2, 1800, 3600, 3601, 7200, 90_000, 90_000]
  const doings: readonly (() => Promise<unknown>)[] = [
    async () => {
      const by = account()
      const ids = await schedule(by, 1 + draw(15), secondsAfter(start, dues[draw(dues.length)] ?? 1))
      known.push(...ids.map((id) => ({ by, id })))
    },
    () => {
      const by = account()
      const ids = known.filter((one) => one.by === by && draw(8) === 0).map(({ id }) => id)
      return messages.deleteScheduled(by, ids.slice(0, 20), secondsAfter(start, -1e6))
    },
    () => claimedBatches.promote(1 + draw(5)),
    () => claimedBatches.expire(draw(10) === 0 ? -100_000 : 1, 1 + draw(3)),
    () => fold(1 + draw(50)),
  ]
  for (let round = 0; round < 80; round++) {
    const work = Promise.all(Array.from({ length: 6 }, async () => doings[[0, 0, 0, 1, 2, 3, 4][draw(7)] ?? 0]?.()))
    await compare(account(), draw(40), 1 + draw(60))
    await work
    await compare(account(), draw(200), 1 + draw(60))
  }
  const { rows } = await client.query(`
    with counted as (
      select account_id, due_at, sum(n) n
      from (select account_id, due_at, n from scheduled_block union all select account_id, due_at, change from scheduled_change) all_counts
      group by 1, 2 having sum(n) <> 0
    ), waiting as (select account_id, due_at, sum(hi - lo) n from later where attempt = 0 group by 1, 2)
    select * from counted full join waiting using (account_id, due_at, n) where counted.n is null or waiting.n is null`)
  expect(rows).toEqual([])
})

interface Explained {
  readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number }
}

/** Returns the minimum of several runs, because the server may reread its catalog in some. */
async function pagesRead(by: AccountId, offset: number, limit: number): Promise<number> {
  let least = Infinity
  for (let run = 0; run < 4; run++) least = Math.min(least, await pagesReadOnce(by, offset, limit))
  return least
}

async function pagesReadOnce(by: AccountId, offset: number, limit: number): Promise<number> {
  const { rows } = await client.query<{ 'QUERY PLAN': readonly Explained[] }>(
    `explain (analyze, buffers, format json) select * from list_scheduled(${by}, ${offset}, ${limit})`,
  )
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan
  return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)
}

test.each([
  ['one minute', 0],
  ['many days', 30],
])(
  'of 40 000 messages that wait for %s the last page reads no more than the first, and neither reads many rows',
  async (_, seconds) => {
    const { id: by } = await anAccount(gateway.ports)
    const count = 40_000
    await client.query(
      `
    with sends as (
      insert into send (first_id, n, account_id, price, body, msisdns)
      select 1 + i, 1, $1, 10, 'hello', array[27800000000 + i] from generate_series(1, $2::int) i returning first_id
    ), ranges as (
      insert into later (lane, account_id, lo, hi, first_id, due_at, at)
      select 0, $1, i, i + 1, i, at, at
      from (select first_id i, '2100-01-01Z'::timestamptz + $3::int * make_interval(secs => first_id) as at from sends) due
      returning account_id, due_at, lo
    )
    insert into scheduled_change select account_id, due_at, lo / 1000, count(*) from ranges group by 1, 2, 3`,
      [by, count, seconds],
    )
    while (((await fold(10_000)).rows[0]?.folded ?? 0) > 0);
    await client.query('vacuum analyze')
    for (const offset of [0, count - 100]) await compare(by, offset, 100)
    const [first, last] = [await pagesRead(by, 0, 100), await pagesRead(by, count - 100, 100)]
    expect(last).toBeLessThan(2 * first)
    expect(last).toBeLessThan(count / 20)
  },
)

test('a reader adds recorded changes to the counts, so that they are not summed again', async () => {
  const { id: by } = await anAccount(gateway.ports, { credits: 1e9 })
  const due = secondsAfter(realClock().now(), 86_400)
  for (let i = 0; i < 6; i++) {
    await Promise.all(Array.from({ length: 100 }, (_, k) => schedule(by, 1, secondsAfter(due, 100 * i + k))))
  }
  const noted = async () => Number((await client.query('select from scheduled_change')).rowCount)
  expect(await noted()).toBeGreaterThan(500)
  const page = { offset: 590, limit: 100 }
  const { total, items } = await gateway.ports.messages.scheduled(by, page)
  expect([total, items.length, await noted()]).toEqual([600, 10, 0])
  expect((await gateway.ports.messages.scheduled(by, page)).items).toEqual(items)
})
