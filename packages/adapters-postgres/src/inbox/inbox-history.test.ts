import { Client } from 'pg'
import type { AccountId } from '@gateway/core/accounts'
import type { InboundMessage } from '@gateway/core/inbox'
import type { SenderAddress } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { aNumber, anAccount, anAddress, anOrder, numbers } from '@gateway/core/testing'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { acceptedIds, dispatchAll, letDaysPass } from '../../testing/old-history.ts'
import { aReply, confirmation, inboxTexts } from '../../testing/replies.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'
import { patientSettings } from '../../testing/patient-settings.ts'

let database: FreshDatabase
let postgres: PostgresPorts
let client: Client

beforeEach(async () => {
  database = await freshDatabase()
  postgres = postgresPorts({ connectionString: database.connectionString, settings: patientSettings })
  client = new Client({ connectionString: database.connectionString })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await postgres.close()
  await database.drop()
})

const count = async (from: string) =>
  (await client.query<{ count: number }>(`select count(*)::int from ${from}`)).rows[0]?.count

async function dropAll() {
  for (;;) if ((await postgres.ports.history.drop(90, 730)).progress === 'all') return
}
const receive = (...fields: readonly Partial<InboundMessage>[]) =>
  postgres.ports.inbox.receive(fields.map(aReply), confirmation)

async function sent(by: AccountId, from: SenderAddress = anAddress()): Promise<number> {
  const [id = NaN] = await acceptedIds(postgres.ports, anOrder(by, { to: [aNumber()], senders: [from] }))
  await dispatchAll(postgres.ports)
  return id
}

test('after 90 days replies are dropped whether claimed or not; opt-outs stay with the reply that caused them', async () => {
  const { ports } = postgres
  const { id } = await anAccount(ports)
  const answered = await sent(id)
  await receive({ text: 'stop', reference: 'a' }, { text: 'b' }, { text: 'nobody', from: 'x' })
  await ports.inbox.take(id, 'all', instant(0), 1)
  await letDaysPass(client, 89)
  await dropAll()
  expect(await inboxTexts(ports, id)).toEqual(['stop', 'b'])
  await letDaysPass(client, 2)
  await receive({ text: 'young' })
  await dropAll()
  expect(await inboxTexts(ports, id)).toEqual(['young'])
  expect(await count('inbound_message')).toBe(1)
  expect(await count('inbound_message_offered')).toBe(1)
  expect(await count('inbound_message_taken')).toBe(0)
  expect(await count('inbound_message_seen')).toBe(1)
  for await (const optOuts of ports.suppressions.optOuts(id)) {
    expect(optOuts).toMatchObject([{ reply: { text: 'stop', answers: answered } }])
  }
})

test('a late STOP finds the account by the address, and a confirmation does not count as a message of the account', async () => {
  const { ports } = postgres
  const [one, two] = [await anAccount(ports), await anAccount(ports)]
  const [first, second] = [anAddress('12025550111'), anAddress('12025550112')]
  const answered = await sent(one.id, first)
  await sent(two.id, second)
  await receive({ to: second, text: 'stop' })
  await dispatchAll(ports)
  expect(await count('message where confirms_opt_out and code = 100')).toBe(1)
  await letDaysPass(client, 91)
  await dropAll()
  expect(await count('inbound_message')).toBe(0)
  await receive({ to: second, text: 'start' }, { to: second, text: 'hello' }, { to: first, text: 'stop' })
  expect(await inboxTexts(ports, two.id)).toEqual(['start', 'hello'])
  expect(await inboxTexts(ports, one.id)).toEqual(['stop'])
  const { items } = await ports.inbox.list(one.id, 'all', instant(0), { offset: 0, limit: 1 })
  expect(items[0]?.answers).toBe(answered)
  await letDaysPass(client, 640)
  await dropAll()
  await receive({ to: first, text: 'much too late' })
  expect(await inboxTexts(ports, one.id)).toEqual([])
})

test('an identical message after 24 hours is a new one', async () => {
  const { ports } = postgres
  const { id } = await anAccount(ports)
  await sent(id)
  await receive({ reference: 'a' })
  await client.query(`update inbound_message_seen set at = at - interval '23 hours 59 minutes'`)
  expect(await receive({ reference: 'a' })).toEqual(['repeated'])
  await client.query(`update inbound_message_seen set at = at - interval '2 minutes'`)
  expect(await receive({ reference: 'a' }, { reference: 'a' })).toEqual(['stored', 'repeated'])
  expect(await inboxTexts(ports, id)).toHaveLength(2)
})

test('parts that stay incomplete for 24 hours are released; a later part begins a new text', async () => {
  const { ports } = postgres
  const { id } = await anAccount(ports)
  await sent(id)
  const part = (number: number) => ({ group: 1, number, of: 2 })
  await receive({ text: 'half', part: part(1) })
  expect(await ports.inbox.releaseParts(86_400, 10, confirmation)).toBe(0)
  await letDaysPass(client, 1)
  expect(await ports.inbox.releaseParts(86_400, 10, confirmation)).toBe(1)
  expect(await receive({ text: 'other', part: part(2) })).toEqual(['incomplete'])
  expect(await inboxTexts(ports, id)).toEqual(['half'])
})

test('the sender address of an account for a number is dropped when no reply to it is possible any more', async () => {
  const { ports } = postgres
  const { id } = await anAccount(ports)
  const pool = [anAddress('12025550111'), anAddress('12025550112')]
  await ports.messages.accept(
    anOrder(id, { to: numbers(2), costs: [0], due: instant(Date.now() + 1000 * 86_400_000), senders: pool }),
  )
  await sent(id)
  await letDaysPass(client, 700)
  await dropAll()
  expect(await count('chosen_sender')).toBe(2)
  await sent(id)
  await letDaysPass(client, 80)
  await dropAll()
  const { rows } = await client.query('select msisdn::text from chosen_sender')
  expect(rows).toEqual([{ msisdn: aNumber() }])
})

test('replies to messages of an earlier version, whose address is not known, reach the account', async () => {
  const { ports } = postgres
  const { id } = await anAccount(ports)
  // Accepts and records a message as the earlier version does, which may also run beside this version.
  await client.query(`
    insert into send (first_id, n, account_id, price, body, msisdns) values (9000, 1, ${id}, 10, 'x', '{${aNumber()}}');
    insert into due (lane, account_id, lo, hi, first_id) values (0, ${id}, 9000, 9001, 9000)`)
  const addresses: unknown[] = []
  await dispatchAll(ports, ({ from, confirmation: confirms }) => {
    addresses.push([from, confirms])
    return { outcome: 'accepted', reference: 'a' }
  })
  expect(addresses).toEqual([[undefined, false]])
  await receive({ to: '99999', text: 'a' }, { to: undefined, text: 'b' })
  await ports.messages.accept(anOrder(id, { to: numbers(1) }))
  await receive({ to: anAddress(), text: 'to an address that is known since' })
  expect(await inboxTexts(ports, id)).toEqual(['a', 'b', 'to an address that is known since'])
})
