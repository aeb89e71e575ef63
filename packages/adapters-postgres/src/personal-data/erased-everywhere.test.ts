import { createHash } from 'node:crypto'
import { createBackOffice, operatorAccess, processingDefaults, type StoredPorts } from '@gateway/core'
import type { IdempotencyKey } from '@gateway/core/client-requests'
import type { BulkRow } from '@gateway/core/bulk-sends'
import { OUTCOME, type MessageReference } from '@gateway/core/messages'
import { erasedNumber } from '@gateway/core/personal-data'
import { instant } from '@gateway/core/time'
import type { PushResult, SealedSecret } from '@gateway/core/webhooks'
import {
  aCarrierId,
  anAccount,
  anAddress,
  aNumber,
  anAnswerDraft,
  anOrder,
  memorySecretBox,
  memorySecrets,
  scriptedWebhookClient,
} from '@gateway/core/testing'
import { Client } from 'pg'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { patientSettings } from '../../testing/patient-settings.ts'
import { postgresPorts } from '../postgres-ports.ts'

const number = aNumber('43660987654321')
const other = aNumber('27820000100')
const texts = ['Grüße: rosa Känguru 17', 'Ja, lila Giraffe 23', 'STOP', 'türkiser Tapir 31'] as const
const [sentText, replyText, , bulkText] = texts
const reference = 'violettes Nashorn' as MessageReference
const now = instant(Date.now())

let database: FreshDatabase
let client: Client
let ports: StoredPorts
let clock: ReturnType<typeof postgresPorts>['clock']
let close: () => Promise<void>

beforeEach(async () => {
  database = await freshDatabase()
  client = new Client({ connectionString: database.connectionString })
  await client.connect()
  ;({ ports, clock, close } = postgresPorts({ connectionString: database.connectionString, settings: patientSettings }))
})
afterEach(async () => {
  await close()
  await client.end()
  await database.drop()
})

/** Personal data with a digest that does not reveal its input. */
const secretBox = {
  ...memorySecretBox(),
  digestsOf: (text: string) => [createHash('sha256').update(text).digest('hex')],
}

const carrier = aCarrierId('sim')

/** Submits all waiting messages and delivers them. */
async function deliverAll(): Promise<void> {
  const dispatcher = await ports.claimedBatches.register(600)
  const lane = { carrier, lane: 'single', messagesMax: 100, markedMax: 100, leaseSeconds: 600 } as const
  for (;;) {
    const batch = await ports.claimedBatches.claim(dispatcher, lane)
    if (typeof batch === 'string') break
    await ports.claimedBatches.record(
      dispatcher,
      batch.messages.map((message) => ({
        ...{ batch: batch.id, message },
        handover: { outcome: 'accepted', reference: `r-${message.id}` },
      })),
    )
    const receipts = batch.messages.map(({ id }) => ({
      ...{ carrier, reference: `r-${id}`, code: OUTCOME.delivered, number: undefined, submitted: undefined },
    }))
    await ports.deliveryReceipts.apply(receipts)
  }
  await ports.claimedBatches.retire(dispatcher)
}

const inbound = (from: string, text: string) => ({
  ...{ carrier, from, to: anAddress(), text, sent: undefined, reference: undefined, offer: undefined, part: undefined },
})

/** Responses of an endpoint that repeat its request in several encodings. In the last one, the number is truncated. */
const echoes = [
  `{"to":"${number}","text":${JSON.stringify(sentText)}}`,
  `number=${encodeURIComponent(`+${number}`)}&text=${encodeURIComponent(sentText)}`,
  Buffer.from(`${number} ${sentText}`).toString('base64'),
  Buffer.from(`${sentText} ${number}`).toString('hex'),
  `thanks for ${sentText} to ${number.slice(0, 10)}`,
]

/** Responses of endpoints of other accounts to events that do not contain the number. */
const answersOfOthers = [
  `unknown number +43 660/987 654-321`,
  `job 20261127${number}001 failed`,
  `number=%2B43%20660%20987654321`,
  `{"to":"\\u002b43660987654321","local":"0660 987654321"}`,
  `no customer for 0043${number.slice(2, 10)}`,
]
const harmlessAnswer = 'order 4711 of 2026-11-27 17:05:33 to +27820000100 failed'

async function pushAll(): Promise<void> {
  let at = 0
  for (;;) {
    const lists = await ports.webhooks.claim({ listsMax: 1, perWebhookMax: 9, rooms: new Map(), leaseSeconds: 600 })
    if (lists.length === 0) return
    const results = lists.map(({ id, tries }): PushResult => {
      const answer = { outcome: 'answered', status: 500, retryAfterSeconds: undefined, milliseconds: 7 } as const
      const verdict = at % 2 === 0 ? 'dead' : 'delivered'
      const beginning = JSON.stringify(lists).includes(number) ? echoes.join('\n') : 'ok'
      at++
      return { ...{ list: id, tries, at: now, verdict, next: undefined }, answer: { ...answer, beginning } }
    })
    await ports.webhooks.record(results)
  }
}

/** Stores number and texts in all places that can have them. */
async function writeEverywhere(): Promise<void> {
  const { id: account } = await anAccount(ports)
  const secret = 'sealed x' as SealedSecret
  const endpoint = { account, url: 'https://example.com', listSize: 1, withText: true, secret } as const
  await ports.webhooks.add({ ...endpoint, events: ['message.delivered', 'reply.received', 'optout.added'] }, now)
  const order = anOrder(account, { to: [number], text: sentText, references: [reference] })
  const request = { account, key: 'key' as IdempotencyKey, canonical: 'asked' }
  await ports.messages.acceptOnce(order, request, anAnswerDraft(order))
  await ports.messages.accept(anOrder(account, { to: [number, other], text: 'to both' }))
  await deliverAll()
  await ports.inbox.receive(
    [inbound(`+${number}`, replyText), inbound(number, 'STOP')],
    processingDefaults.confirmation,
  )
  await deliverAll()
  await pushAll()
  await ports.suppressions.add({ scope: account, number: other, kind: 'opt-out', since: now })
  const row = (at: number, to: string, fields: readonly string[]): BulkRow => ({ row: at, number: to, fields })
  await ports.bulkSends.add(account, { columns: ['note'], text: 'Dear {note}', scheduled: undefined, key: 'k' }, [
    [row(1, number, ['lila Giraffe 23']), row(2, other, [`sent by +43 660 987 654 321`]), row(3, other, [number])],
  ])
  const ended = await ports.bulkSends.add(
    account,
    { columns: ['note'], text: bulkText, scheduled: undefined, key: 'e' },
    [[row(1, number, ['x'])]],
  )
  await ports.bulkSends.start(account, ended, 0)
  await ports.bulkSends.end(ended, 0, {
    ...{ accepted: [], messages: 0, cost: 0 as never },
    refusedRows: [{ ...row(1, number, ['x']), refused: 'opted-out' }],
  })
  await client.query(
    `insert into unread_delivery_receipt (carrier, text, pdu) values
       ('sim', $1, ''), ('sim', '', $2)`,
    [`to ${number}`, Buffer.from(`\0${number}\0`)],
  )
  await client.query(
    `insert into unmatched_delivery_receipt (carrier, carrier_id, code, msisdn) values (1, 'x', 0, $1)`,
    [number],
  )
  await client.query(
    `with watch as (
       insert into carrier_watch (id, carrier, number, has_text, watched_until)
       values (gen_random_uuid(), 'sim', $1, true, now() + interval '1 minute') returning id
     ) select id from watch`,
    [`+${number}`],
  )
  await client.query(
    `insert into webhook_replay (webhook_id, account_id, state, event)
     select id, account_id, 1, 'optout-added-' || $1 || '-1' from webhook`,
    [number],
  )
  for (const [i, answer] of [...answersOfOthers, harmlessAnswer].entries())
    await client.query(
      `insert into webhook_attempt (list_id, tries, webhook_id, at, milliseconds, beginning, verdict)
       values ($1, 1, 1, now(), 1, $2, 1)`,
      [999 + i, answer],
    )
}

const encodings = (text: string): readonly string[] => {
  const bytes = Buffer.from(text)
  // The first and last characters of base64 are removed, because they depend on the text beside it.
  const inBase64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '')
      .slice(before === 0 ? 0 : 4, -2),
  )
  return [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text), bytes.toString('hex'), ...inBase64]
}

const digits = [number, number.slice(0, 9), number.slice(-9), '660 987', '660/987']
const traces = [...digits.flatMap(encodings), ...[sentText, replyText, bulkText, reference].flatMap(encodings)]

/** Returns every table and column of the database that has one of the traces. */
async function found(): Promise<readonly string[]> {
  const { rows: columns } = await client.query<{ table: string; column: string }>(
    `select c.table_name as table, c.column_name as column
     from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
     order by 1, 2`,
  )
  const places: string[] = []
  for (const { table, column } of columns) {
    const { rows } = await client.query<{ value: string }>(
      `select distinct "${column}"::text as value from "${table}" where "${column}" is not null`,
    )
    // A number within other digits, such as a time or an id, does not count.
    for (const { value } of rows)
      for (const trace of traces) if (value.includes(trace)) places.push(`${table}.${column}`)
  }
  return [...new Set(places)].map((place) => place.replace(/_p\d+\./, '.')).toSorted()
}

test('an erased number and its texts are in no column of any table, in no encoding, but in its opt-out', async () => {
  await writeEverywhere()
  expect(await found()).toEqual(
    expect.arrayContaining([
      ...['bulk_send.text', 'bulk_send_call.recipients', 'carrier_watch.number', 'conversation.from_address'],
      ...['inbound_message.from_address', 'inbound_message.text', 'last_contact.msisdn', 'message.msisdn'].filter(
        (place) => place !== 'last_contact.msisdn',
      ),
      ...['send.body', 'send.client_references', 'send.msisdns', 'unmatched_delivery_receipt.msisdn'],
      ...['unread_delivery_receipt.pdu', 'unread_delivery_receipt.text', 'webhook_attempt.beginning'],
      ...['webhook_list.beginning', 'webhook_list.events', 'webhook_replay.event'],
    ]),
  )
  const all = { ...ports, clock, secrets: memorySecrets(), secretBox }
  const operators = operatorAccess({ ...all, webhookClient: scriptedWebhookClient() })
  const operator = operators.as({ name: 'ann', role: 'admin' }, 'here')
  expect(await operator.commands.eraseNumber(number, 'ann')).toMatchObject({ remaining: { waiting: 0 } })
  expect(await found()).toEqual(['opt_out_reply.msisdn', 'suppression.msisdn'])
  const { rows } = await client.query<{ beginning: string }>(
    `select beginning from webhook_attempt where list_id >= 999 and beginning is not null`,
  )
  expect(rows.map(({ beginning }) => beginning)).toEqual([harmlessAnswer])
  expect(await ports.ledger.check()).toMatchObject({ differences: [] })
})

test('the response to a push during the erasure of its number is not stored, and the push is repeated', async () => {
  const { id: account } = await anAccount(ports)
  const secret = 'sealed x' as SealedSecret
  const endpoint = { account, url: 'https://example.com', listSize: 1, withText: true, secret } as const
  await ports.webhooks.add({ ...endpoint, events: ['message.delivered'] }, now)
  await ports.messages.accept(anOrder(account, { to: [number], text: sentText }))
  await deliverAll()
  const claim = () => ports.webhooks.claim({ listsMax: 1, perWebhookMax: 9, rooms: new Map(), leaseSeconds: 600 })
  const [list] = await claim()
  if (list === undefined) throw new Error('nothing was claimed')
  const all = { ...ports, clock, secrets: memorySecrets(), secretBox }
  await createBackOffice({ ...all, webhookClient: scriptedWebhookClient() }).commands.eraseNumber(number, 'ann')
  const answer = { outcome: 'answered', status: 200, retryAfterSeconds: undefined, milliseconds: 7 } as const
  const { id, tries } = list
  await ports.webhooks.record([
    { list: id, tries, at: now, verdict: 'delivered', next: undefined, answer: { ...answer, beginning: sentText } },
  ])
  expect(await found()).toEqual([])
  await client.query(`update webhook_list set due_at = now() - interval '1 second'`)
  const [again] = await claim()
  expect(again?.id).toBe(id)
  expect(JSON.stringify(again)).toContain(`"${erasedNumber}"`)
})
