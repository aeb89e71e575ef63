import { AnswerDeadline, type MessageId } from '@gateway/core/messages'
import { readIdempotencyKey } from '@gateway/core/client-requests'
import { aCarrierId, anAccount, anAnswerDraft, anOrder, numbers, until } from '@gateway/core/testing'
import { instant } from '@gateway/core/time'
import { Client } from 'pg'
import { cuttableDatabase, type CuttableDatabase } from '../../testing/cuttable-database.ts'
import type { Cut } from '../../testing/cutting-proxy.ts'

let database: CuttableDatabase
let client: Client

beforeEach(async () => {
  database = await cuttableDatabase()
  ;({ client } = database)
})
afterEach(() => database.drop())

const claimRequest = {
  carrier: aCarrierId(),
  lane: 'single',
  messagesMax: 100,
  markedMax: 0,
  leaseSeconds: 60,
} as const

/** Claims all messages that can be claimed now. */
async function claimed(): Promise<readonly MessageId[]> {
  const { claimedBatches } = database.direct.ports
  const batch = await claimedBatches.claim(await claimedBatches.register(60), claimRequest)
  return typeof batch === 'string' ? [] : batch.messages.map(({ id }) => id)
}

async function heldIds(): Promise<readonly number[]> {
  const { rows } = await client.query<{ id: string }>(
    'select unnest(first_ids) as id from smpp_accept where until > now()',
  )
  return rows.map(({ id }) => Number(id))
}

const single = (account: Awaited<ReturnType<typeof anAccount>>) => anOrder(account.id, { to: numbers(1) })

/**
 * Locks an account. Returns a function that waits until another connection waits for the lock, calls `meanwhile`, and
 * unlocks the account.
 */
async function locked(account: Awaited<ReturnType<typeof anAccount>>) {
  const holder = new Client({ connectionString: database.connectionString })
  await holder.connect()
  await holder.query('begin')
  await holder.query('select from account where id = $1 for update', [account.id])
  return async (meanwhile: () => void) => {
    await until(async () => (await database.blockedBy(holder)) !== undefined)
    meanwhile()
    await holder.query('commit')
    await holder.end()
  }
}

async function assertNothingSent(account: Awaited<ReturnType<typeof anAccount>>): Promise<void> {
  const { ledger } = database.direct.ports
  await until(async () => (await ledger.balance(account.id)) === 1000 && (await heldIds()).length === 0)
  expect(await claimed()).toEqual([])
  expect((await ledger.check()).differences).toEqual([])
}

test('a message is held until its deadline is met, and then claimed', async () => {
  const { ports } = database.direct
  const account = await anAccount(ports)
  const deadline = new AnswerDeadline()
  const accepted = await ports.messages.accept(single(account), deadline)
  expect(typeof accepted).toBe('object')
  expect(deadline.miss()).toBe(false)
  await until(async () => (await claimed()).length === 1)
  expect(await heldIds()).toEqual([])
})

test('a message of a process that died is claimed when its hold ends', async () => {
  const { ports } = database.direct
  const account = await anAccount(ports)
  await ports.messages.accept(single(account))
  await client.query(
    `insert into smpp_accept (process, slot, until, first_ids)
     select gen_random_uuid(), 1, now() + interval '1 hour', array_agg(first_id) from send`,
  )
  expect(await claimed()).toEqual([])
  await client.query('update smpp_accept set until = now()')
  expect(await claimed()).toHaveLength(1)
})

test('an order that waited for a lock beyond its deadline is revoked: refunded, never claimed, its key free', async () => {
  const { ports } = database.direct
  const account = await anAccount(ports)
  const key = readIdempotencyKey('key')
  if (key === undefined || key === 'unusable') throw new Error('no key')
  const request = { account: account.id, key, canonical: 'this' }
  const order = single(account)
  const deadline = new AnswerDeadline()
  const unlock = await locked(account)
  const accepting = database.cuttable.ports.messages.acceptOnce(order, request, anAnswerDraft(order), deadline)
  await unlock(() => expect(deadline.miss()).toBe(true))
  expect(await accepting).toBe('overloaded')
  await assertNothingSent(account)
  expect(await ports.clientRequests.find(request)).toBeUndefined()
  const { rows } = await client.query('select code from message')
  expect(rows).toEqual([{ code: 102 }])
})

test.each<Cut>(['after-it-arrived', 'before-its-answer'])(
  'an order whose connection breaks %s counts if its deadline is open, and is revoked if it is missed',
  async (where) => {
    const { proxy, cuttable } = database
    const account = await anAccount(database.direct.ports)
    const cut = proxy.cut(where, 'accept-held')
    const deadline = new AnswerDeadline()
    const accepting = cuttable.ports.messages.accept(single(account), deadline)
    await cut
    const isMissed = deadline.miss()
    const result = await accepting
    if (isMissed) {
      expect(result).toBe('overloaded')
      await assertNothingSent(account)
      return
    }
    expect(typeof result).toBe('object')
    await until(async () => (await claimed()).length === 1)
  },
)

test('scheduled messages are revoked too, and the counts of scheduled messages stay right', async () => {
  const { ports } = database.direct
  const account = await anAccount(ports)
  const due = (await client.query<{ at: Date }>(`select now() + interval '1 day' as at`)).rows[0]?.at.getTime() ?? 0
  const deadline = new AnswerDeadline()
  const unlock = await locked(account)
  const order = anOrder(account.id, { to: numbers(20), due: instant(Math.round(due)) })
  const accepting = database.cuttable.ports.messages.accept(order, deadline)
  await unlock(() => expect(deadline.miss()).toBe(true))
  expect(await accepting).toBe('overloaded')
  await assertNothingSent(account)
  expect(await ports.messages.scheduled(account.id, { offset: 0, limit: 10 })).toEqual({ total: 0, items: [] })
})
