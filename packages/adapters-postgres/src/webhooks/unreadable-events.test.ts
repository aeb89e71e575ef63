import type { StoredPorts } from '@gateway/core'
import { instant, secondsAfter } from '@gateway/core/time'
import type { ClaimedList, PushResult, SealedSecret, Webhook } from '@gateway/core/webhooks'
import { anAccount, eventsOf } from '@gateway/core/testing'
import { Client } from 'pg'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { patientSettings } from '../../testing/patient-settings.ts'
import { postgresPorts } from '../postgres-ports.ts'
import { EVENT_CODE } from '../stored-codes.ts'

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

const claim = (leaseSeconds = 600) =>
  ports.webhooks.claim({ listsMax: 100, perWebhookMax: 50, rooms: new Map(), leaseSeconds })

const now = instant(Date.now())

async function endpoint(listSize: number): Promise<Webhook> {
  const { id: account } = await anAccount(ports)
  const secret = 'sealed' as SealedSecret
  const endpoint = { account, url: 'https://example.com', events: ['message.failed'], withText: false, secret } as const
  const added = await ports.webhooks.add({ ...endpoint, listSize }, now)
  if (typeof added === 'string') throw new Error(added)
  return added
}

/** Type and code of events that cannot be read: the type is unknown, or the code is missing. */
const [unknownType, noCode] = ['99', 'null'] as const

/** Stores events of consecutive messages from `first` on, one for each type and code. */
const happen = (webhook: Webhook, first: number, ...events: readonly (readonly [type: string, code: string])[]) =>
  client.query(`
    insert into webhook_event (webhook_id, type, sequence, at, code, has_reference, subjects, msisdns)
    select ${webhook.id}, type, 4, now(), code, true, array[${first} + nr - 1], array[27820000000 + nr]
    from unnest('{${events.map(([type]) => type).join()}}'::smallint[], '{${events.map(([, code]) => code).join()}}'::smallint[])
      with ordinality told(type, code, nr)
    order by nr`)

const shown = (lists: readonly ClaimedList[]) =>
  lists.map((list) => (list.unreadable > 0 ? list.unreadable : eventsOf(list).map(({ id }) => id)))

const failed = ({ id, tries }: ClaimedList): PushResult => ({
  list: id,
  tries,
  at: now,
  answer: { outcome: 'failed', failure: 'unreadable', milliseconds: 0 },
  verdict: 'retry',
  next: secondsAfter(now, -1),
})

test('the code of each type is unchanged', () => {
  expect(EVENT_CODE).toEqual({
    'message.delivered': 0,
    'message.failed': 1,
    'message.unknown': 2,
    'message.sent': 3,
    'reply.received': 4,
    'shortcode.received': 5,
    'optout.added': 6,
    'optout.removed': 7,
    test: 8,
  })
})

test('an event that this version cannot read is moved to a list of its own, and the others are pushed', async () => {
  const webhook = await endpoint(3)
  await happen(webhook, 1, ['0', '0'], [unknownType, '0'], ['0', '0'], ['1', '103'], ['1', noCode], [unknownType, '0'])
  expect(shown(await claim())).toEqual([])
  const lists = await claim()
  expect(shown(lists).toSorted()).toEqual([1, 2, ['message-1-4', 'message-3-4'], ['message-4-4']])
  expect(lists.map(({ tries }) => tries)).toEqual([1, 1, 1, 1])
  expect(new Set(lists.map(({ id }) => id)).size).toBe(4)
  expect(shown(await claim())).toEqual([])
})

test('unreadable events stay unchanged, are tried again and appear among the attempts', async () => {
  const webhook = await endpoint(1)
  await happen(webhook, 7, [unknownType, '0'])
  const [list] = await claim()
  if (list === undefined) throw new Error('nothing was claimed')
  expect([shown([list]), list.groups]).toEqual([[1], []])
  await ports.webhooks.record([failed(list)])
  const attempts = await ports.webhooks.attempts(undefined, webhook.id, { offset: 0, limit: 10 })
  expect(attempts?.items).toMatchObject([{ list: list.id, events: [], answer: { failure: 'unreadable' } }])
  // Gives the events a known type, as if a version that knows their type read the list.
  await client.query(
    `update webhook_list set events = replace(events::text, '"type":${unknownType},', '"type":1,')::json`,
  )
  expect(shown(await claim())).toEqual([['message-7-4']])
})

test('a failed list and a list of a dead claimer are divided too', async () => {
  const webhook = await endpoint(2)
  await happen(webhook, 1, ['0', '0'], ['0', '0'], ['0', '0'], ['0', '0'])
  const [first] = await claim(-1)
  if (first === undefined) throw new Error('nothing was claimed')
  // Gives one event an unknown type, as if another version had written it.
  await client.query(
    `update webhook_list set events = regexp_replace(events::text, '"type":0,', '"type":${unknownType},')::json where id = 1`,
  )
  expect(shown(await claim())).toEqual([['message-3-4', 'message-4-4']])
  expect(shown(await claim()).toSorted()).toEqual([1, ['message-2-4']])
})

test('a stored list without events fails alone', async () => {
  const [spoiled, well] = [await endpoint(1), await endpoint(1)]
  for (const webhook of [spoiled, well]) await happen(webhook, 1, ['0', '0'])
  await ports.webhooks.record((await claim()).map(failed))
  await client.query(`update webhook_list set events = '[[]]' where webhook_id = ${spoiled.id}`)
  const lists = await claim()
  expect(shown(lists).toSorted()).toEqual([1, ['message-1-4']])
  await ports.webhooks.record(lists.map(failed))
  expect(await ports.webhooks.attempts(undefined, spoiled.id, { offset: 0, limit: 10 })).toMatchObject({ total: 2 })
})
