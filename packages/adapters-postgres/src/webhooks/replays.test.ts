import type { StoredPorts } from '@gateway/core'
import { instant } from '@gateway/core/time'
import type { Replay, SealedSecret, Webhook } from '@gateway/core/webhooks'
import { anAccount, eventsOf } from '@gateway/core/testing'
import { Client } from 'pg'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { patientSettings } from '../../testing/patient-settings.ts'
import { postgresPorts } from '../postgres-ports.ts'
import { milliseconds } from '../sql/arrays.ts'

let database: FreshDatabase
let client: Client
let ports: StoredPorts
let close: () => Promise<void>

beforeEach(async () => {
  database = await freshDatabase()
  client = new Client({ connectionString: database.connectionString })
  await client.connect()
  ;({ ports, close } = postgresPorts({ connectionString: database.connectionString, settings: patientSettings }))
})
afterEach(async () => {
  await close()
  await client.end()
  await database.drop()
})

const everything: Replay = { kind: 'period', from: instant(0), to: instant(Date.UTC(2100, 0)) }

/** Creates an endpoint with delivered lists of one reply each. The lists have few distinct times. */
async function delivered(lists: number): Promise<Webhook> {
  const { id: account } = await anAccount(ports)
  const endpoint = {
    account,
    url: 'https://example.com',
    events: ['reply.received'],
    listSize: 1,
    withText: false,
  } as const
  const added = await ports.webhooks.add({ ...endpoint, secret: 'sealed' as SealedSecret }, instant(Date.now()))
  if (typeof added === 'string') throw new Error(added)
  await client.query(`
    insert into webhook_list (webhook_id, state, tries, from_at, to_at, due_at, events)
    select ${added.id}, 1, 2, at, at, at, json_build_array(json_build_object(
      'type', 4, 'sequence', 1, 'at', ${milliseconds('at')}, 'from', '27820000000', 'subjects', json_build_array(i)))
    from (
      select i, date_trunc('day', now()) - (i % 7) * interval '1 hour' as at from generate_series(1, ${lists}) i
    ) one`)
  return added
}

const claiming = { listsMax: 1000, perWebhookMax: 1000, rooms: new Map(), leaseSeconds: 600 }

/** Pushes at most the next thousand lists, and returns their events. */
async function pushed(): Promise<readonly string[]> {
  const lists = await ports.webhooks.claim(claiming)
  const answer = {
    outcome: 'answered',
    status: 204,
    retryAfterSeconds: undefined,
    beginning: '',
    milliseconds: 1,
  } as const
  await ports.webhooks.record(
    lists.map(({ id, tries }) => ({
      list: id,
      tries,
      at: instant(Date.now()),
      answer,
      verdict: 'delivered',
      next: undefined,
    })),
  )
  return lists.flatMap(eventsOf).map(({ id }) => id)
}

test('a long replay continues as its events are pushed, each once, and never has all of them waiting', async () => {
  const webhook = await delivered(12_000)
  await ports.webhooks.startReplay(webhook.account, webhook.id, everything)
  const got: string[] = []
  let most = 0
  for (let ended = false; !ended;) {
    // Makes two calls at once, as two processes would.
    const looks = await Promise.all([ports.webhooks.advanceReplay(), ports.webhooks.advanceReplay()])
    const task = await ports.webhooks.findReplay(undefined, webhook.id)
    most = Math.max(most, task?.waiting ?? 0)
    const some = await pushed()
    got.push(...some)
    ended = some.length === 0 && looks.includes('none')
  }
  expect([got.length, new Set(got).size]).toEqual([12_000, 12_000])
  expect(most).toBeLessThan(8000)
  expect(await ports.webhooks.findReplay(undefined, webhook.id)).toMatchObject({
    state: 'done',
    events: 12_000,
    waiting: 0,
  })
  expect((await client.query('select from webhook_replayed_event')).rowCount).toBe(0)
})

test('a step during which its process dies has no effect, and another process continues', async () => {
  const webhook = await delivered(1000)
  await ports.webhooks.startReplay(webhook.account, webhook.id, everything)
  const dying = new Client({ connectionString: database.connectionString })
  dying.on('error', () => undefined)
  await dying.connect()
  await dying.query('begin')
  const { rows } = await dying.query<{ pid: number }>('select pg_backend_pid() pid')
  await dying.query(`update webhook_replay set events = 999, up_to = now()`)
  expect(await ports.webhooks.advanceReplay()).toBe('waits')
  await client.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid])
  while ((await ports.webhooks.advanceReplay()) === 'more');
  await dying.end().catch(() => undefined)
  const got = await pushed()
  expect([got.length, new Set(got).size]).toEqual([1000, 1000])
})
