import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import { Client } from 'pg'
import { functions } from '../packages/adapters-postgres/src/functions.ts'
import { migrate } from '../packages/adapters-postgres/src/migrate.ts'
import { migrations } from '../packages/adapters-postgres/src/migrations.ts'
import { describeStatement } from '../packages/adapters-postgres/testing/describe.ts'
import { openAccount } from './support/accounts.ts'
import { attempt, interfaces, type Attempt } from './support/attempts.ts'
import { rest, restBalance, restStatus } from './support/clients.ts'
import { startDatabase } from './support/database.ts'
import { operate } from './support/operate.ts'
import {
  dataFolder,
  entryOf,
  killLeftovers,
  root,
  runGateway,
  startApp,
  type App,
  type Started,
} from './support/process.ts'
import { submissions } from './support/record.ts'
import { findReleaseBefore, statementsOf } from './support/release-before.ts'

// Runs an upgrade as docs/operations/upgrade.md describes it, and then a downgrade. The old processes are those of the
// previous release. If there is no previous release, they are of this build, so that the test covers only the procedure
// and the schema.
const before = findReleaseBefore()
before?.catch(() => undefined)
// Building a commit takes a minute or more.
beforeAll(async () => void (await before), 600_000)

afterEach(killLeftovers)
afterAll(async () => (await before)?.remove())

const granted = 100_000

/**
 * Changes that a next version might make to the schema: a column with a default in each busy table, a table, and an
 * index.
 */
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

/** Process to which a load balancer sends requests while it is ready. */
interface Backend {
  process: Started
  isReady: boolean
  underWay: number
}

/** Milliseconds between two readiness checks of the balancer. */
const lookMilliseconds = 50
/**
 * Minimum milliseconds between the two signals. After this time the second signal does not count as a copy of the first
 * and ends the wait of DRAIN_SECONDS.
 */
const secondSignalMilliseconds = 400

async function lookAt(backend: Backend, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const answer = await fetch(`${backend.process.url}/health/ready`).catch(() => undefined)
    await answer?.text()
    backend.isReady = answer?.status === 200
    await delay(lookMilliseconds)
  }
}

/** Stops a process after it has got its last request, and starts another one in its place. */
async function replace(backend: Backend, start: () => Promise<Started>): Promise<void> {
  const old = backend.process
  const answered = performance.now()
  const stopped = old.stop()
  await until(() => !backend.isReady && backend.underWay === 0, 30_000)
  await until(() => performance.now() - answered > secondSignalMilliseconds)
  void old.stop()
  expect(await stopped).toBe(0)
  backend.process = await start()
  await until(() => backend.isReady, 30_000)
}

test('processes are upgraded one by one under load, and downgraded again: no request fails, each message is sent once', async () => {
  const data = await dataFolder()
  const over = new AbortController()
  const database = await startDatabase(`${data.path}/db`, { isEmpty: before !== undefined })
  try {
    const environment = {
      DATABASE_URL: database.connectionString,
      DATA_DIR: data.path,
      CARRIERS: 'simulator:?delayMs=10',
      DRAIN_SECONDS: '60',
      // The time limits are long, because a slow answer on a busy machine is not a failure.
      ...{ CONNECTION_SECONDS: '60', STATEMENT_SECONDS: '60', LOCK_SECONDS: '60' },
    }
    const started: Started[] = []
    const starter = (entry: (app: App) => string) => async (app: App) => {
      const waits = app === 'dispatcher' ? { DRAIN_SECONDS: '0' } : {}
      const process = await startApp(app, { ...environment, ...waits }, entry(app))
      started.push(process)
      return process
    }
    const startOld = starter((await before)?.entryOf ?? entryOf)
    const startNew = starter(entryOf)

    // The first process creates the schema.
    const first = await startOld('all-in-one')
    const [second, oldDispatcher] = await Promise.all([startOld('all-in-one'), startOld('dispatcher')])
    let dispatcher = oldDispatcher
    const backends: Backend[] = [first, second].map((process) => ({ process, isReady: true, underWay: 0 }))
    const { key } = await openAccount(environment, 'acme', granted)
    const attempts: Promise<Attempt>[] = []
    const looking = backends.map((backend) => lookAt(backend, over.signal))
    const send = async (): Promise<Attempt> => {
      const turn = attempts.length
      const ready = backends.filter(({ isReady }) => isReady)
      const backend = ready[turn % ready.length]
      if (backend === undefined) throw new Error('no process is ready')
      backend.underWay++
      const client = { url: backend.process.url, key }
      const by = interfaces[turn % 3] ?? 'rest'
      return attempt(by, client, `2782${String(turn).padStart(5, '0')}01`).finally(() => backend.underWay--)
    }
    const keepSending = async (): Promise<void> => {
      while (!over.signal.aborted) {
        attempts.push(send())
        await delay(40)
      }
    }
    const sending = keepSending()
    const isServed = (answer: Attempt | undefined) => answer?.status === 200
    const thirty = async () => {
      const from = attempts.length
      await until(async () => attempts.length > from + 30 && isServed(await attempts[from + 30]), 30_000)
    }
    await thirty()

    const applied = await migrate(database.connectionString, undefined, {
      migrations: [...migrations, ...next],
      functions,
    })
    expect(applied.map(({ version }) => version)).toEqual(expect.arrayContaining([9001, 9002]))
    await thirty()
    // Without a previous release the downgrade would replace processes by the same processes again.
    for (const start of before === undefined ? [startNew] : [startNew, startOld]) {
      expect(await dispatcher.stop()).toBe(0)
      dispatcher = await start('dispatcher')
      for (const backend of backends) {
        await replace(backend, () => start('all-in-one'))
        await thirty()
      }
    }
    over.abort()
    await Promise.all([sending, ...looking])

    const all = await Promise.all(attempts)
    expect(all.filter(({ status, id }) => status !== 200 || id === undefined)).toEqual([])
    const ids = all.flatMap(({ id }) => id ?? [])
    const client = { url: backends[0]?.process.url ?? '', key }
    const areDelivered = async () => (await restStatus(client, ids)).every(({ statusCode }) => statusCode === 0)
    await until(areDelivered, 60_000)
    expect(await restBalance(client)).toBe(granted - ids.length)
    const submitted = (await submissions(data.path)).map(({ messageId }) => messageId)
    expect(submitted.toSorted((a, b) => a - b)).toEqual(ids.toSorted((a, b) => a - b))

    const body = { message: 'x', recipients: [{ mobileNumber: '27820000101' }], scheduledTime: '203001010000' }
    const later = await rest<{ recipients: { apiMessageId: number }[] }>(client, '/sms/outgoing/send', body)
    const laterIds = later.recipients.map(({ apiMessageId }) => apiMessageId)
    expect(await rest(client, '/sms/scheduled/delete', laterIds)).toMatchObject({
      deletedMessageStatuses: [{ deleteError: '' }],
    })
    expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
    expect((await runGateway(['migrate'], environment)).code).toBe(0)
    const last = [...backends.map(({ process }) => process), dispatcher]
    const codes = await Promise.all(last.map((process) => stopAtOnce(process)))
    expect(codes).toEqual([0, 0, 0])
    expect(started.map((process) => process.output()).join('')).not.toMatch(/"level":"(?:error|fatal)"/)
  } finally {
    over.abort()
    killLeftovers()
    await database.remove()
    await data.remove()
  }
}, 180_000)

test('processes of the previous release start and send on a schema of this version', async () => {
  const data = await dataFolder()
  const database = await startDatabase(`${data.path}/db`, { isEmpty: true })
  try {
    const environment = { DATABASE_URL: database.connectionString, DATA_DIR: data.path, CARRIERS: 'simulator:' }
    expect((await runGateway(['migrate'], environment)).out).toContain('Applied 1 baseline.')
    const entry = (await before)?.entryOf ?? entryOf
    const old = await startApp('all-in-one', environment, entry('all-in-one'))
    const { key } = await openAccount(environment, 'acme', granted)
    const client = { url: old.url, key }
    const attempts = await Promise.all(interfaces.map((by, i) => attempt(by, client, `2782000010${i}`)))
    expect(attempts.map(({ status }) => status)).toEqual(interfaces.map(() => 200))
    const ids = attempts.flatMap(({ id }) => id ?? [])
    const areDelivered = async () => (await restStatus(client, ids)).every(({ statusCode }) => statusCode === 0)
    await until(areDelivered, 60_000)
    expect(await stopAtOnce(old)).toBe(0)
    expect(old.output()).not.toMatch(/"level":"(?:error|fatal)"/)
  } finally {
    killLeftovers()
    await database.remove()
    await data.remove()
  }
}, 180_000)

test('the server accepts every statement of the previous release on a schema of this version', async () => {
  const data = await dataFolder()
  const database = await startDatabase(`${data.path}/db`)
  const client = new Client({ connectionString: database.connectionString })
  try {
    await client.connect()
    const statements = await statementsOf((await before)?.store ?? join(root, 'packages/adapters-postgres'))
    expect(statements.map(({ name }) => name)).toContain('match-receipts')
    const refused: string[] = []
    for (const { name, text } of statements)
      await describeStatement(client, { text }).catch((error: unknown) => refused.push(`${name}: ${String(error)}`))
    expect(refused).toEqual([])
  } finally {
    await client.end()
    await database.remove()
    await data.remove()
  }
}, 180_000)

async function stopAtOnce(process: Started): Promise<number | null> {
  const stopped = process.stop()
  await delay(secondSignalMilliseconds)
  void process.stop()
  return stopped
}
