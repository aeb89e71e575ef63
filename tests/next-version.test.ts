import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import { migrate } from '../packages/adapters-postgres/src/migrate.ts'
import { migrations } from '../packages/adapters-postgres/src/migrations.ts'
import { openAccount } from './support/accounts.ts'
import { attempt, interfaces, type Attempt } from './support/attempts.ts'
import { rest, restBalance, restStatus } from './support/clients.ts'
import { startDatabase } from './support/database.ts'
import { operate } from './support/operate.ts'
import { dataFolder, killLeftovers, runGateway, startApp } from './support/process.ts'

afterEach(killLeftovers)

const granted = 100_000

/** What a next version might need: a column with a default in each busy table, a table, and an index. */
const next = [
  {
    version: 9001,
    name: 'made up: columns',
    sql: `
      alter table account add column made_up_limit int not null default 7;
      alter table send add column made_up_label text;
      alter table message add column made_up_hops smallint;
      alter table due add column made_up_weight smallint not null default 1;
      alter table claimed_batch add column made_up_note text`,
  },
  {
    version: 9002,
    name: 'made up: a table and an index',
    sql: `
      create table made_up (account_id int primary key references account, at timestamptz not null default now());
      insert into made_up (account_id) select id from account;
      create index made_up_ledger on ledger (account_id, at)`,
  },
]

test('the migrations of a next version run beside old processes under load: no request fails, and old processes start on the new schema', async () => {
  const data = await dataFolder()
  const database = await startDatabase(`${data.path}/db`)
  const stopping = new AbortController()
  try {
    const environment = {
      DATABASE_URL: database.connectionString,
      DATA_DIR: data.path,
      CARRIERS: 'simulator:?delayMs=10',
    }
    let gateway = await startApp('all-in-one', environment)
    const dispatcher = await startApp('dispatcher', environment)
    const { key } = await openAccount(environment, 'acme', granted)
    const attempts: Promise<Attempt>[] = []
    const send = () => {
      const number = `2782${String(attempts.length).padStart(5, '0')}01`
      const by = interfaces[attempts.length % 3] ?? 'rest'
      attempts.push(attempt(by, { url: gateway.url, key }, number))
    }
    const keepSending = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        send()
        await delay(15)
      }
    }
    const sending = keepSending()
    await until(async () => attempts.length > 60 && (await attempts[60])?.status === 200)

    const before = attempts.length
    const applied = await migrate(database.connectionString, undefined, [...migrations, ...next])
    expect(applied.map(({ version }) => version)).toEqual([9001, 9002])
    const during = attempts.length - before
    await until(async () => attempts.length > before + during + 60 && (await attempts.at(-30))?.status === 200)
    stopping.abort()
    await sending

    const one = await Promise.all(attempts)
    expect(one.filter(({ status, id }) => status !== 200 || id === undefined)).toEqual([])
    const ids = one.flatMap(({ id }) => id ?? [])
    const client = () => ({ url: gateway.url, key })
    const areDelivered = async (all: readonly number[]) =>
      (await restStatus(client(), all)).every(({ statusCode }) => statusCode === 0)
    await until(() => areDelivered(ids), 30_000)
    expect(await restBalance(client())).toBe(granted - ids.length)

    // An old process that starts now finds a schema that is newer than itself.
    expect(await gateway.stop()).toBe(0)
    gateway = await startApp('all-in-one', environment)
    const from = attempts.length
    for (let i = 0; i < 30; i++) send()
    const two = (await Promise.all(attempts)).slice(from)
    expect(two.filter(({ status, id }) => status !== 200 || id === undefined)).toEqual([])
    await until(() => areDelivered(two.flatMap(({ id }) => id ?? [])), 30_000)
    const body = { message: 'x', recipients: [{ mobileNumber: '27820000101' }], scheduledTime: '203001010000' }
    const later = await rest<{ recipients: { apiMessageId: number }[] }>(client(), '/sms/outgoing/send', body)
    const laterIds = later.recipients.map(({ apiMessageId }) => apiMessageId)
    expect(await rest(client(), '/sms/scheduled/delete', laterIds)).toMatchObject({
      deletedMessageStatuses: [{ deleteError: '' }],
    })
    expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
    expect((await runGateway(['migrate'], environment)).code).toBe(0)
    for (const app of [gateway, dispatcher]) {
      expect(app.output()).not.toMatch(/"level":"(?:error|fatal)"/)
      expect(await app.stop()).toBe(0)
    }
  } finally {
    stopping.abort()
    killLeftovers()
    await database.remove()
    await data.remove()
  }
}, 120_000)
