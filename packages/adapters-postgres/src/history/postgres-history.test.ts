import { Client } from 'pg'
import { limits } from '@gateway/core'
import type { Account, AccountId } from '@gateway/core/accounts'
import type { DeliveryReceipt } from '@gateway/core/dispatch'
import type { MessageId } from '@gateway/core/messages'
import { instant, secondsAfter } from '@gateway/core/time'
import { aClaimedBatchId, aDispatcherId, aMessageId, anAccount, anOrder, numbers, until } from '@gateway/core/testing'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { acceptedIds, dispatchAll, letDaysPass, storeSend, testCarrier } from '../../testing/old-history.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'
import { patientSettings } from '../../testing/patient-settings.ts'

const days = limits.statusDays
const longAgo = instant(0)
const perPartition = 5_000_000

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

async function dropAll(ports = postgres.ports) {
  const sum = { partitions: 0, sends: 0, messages: 0 }
  for (;;) {
    const { progress: state, ...dropped } = await ports.history.drop(days, 730)
    sum.partitions += dropped.partitions
    sum.sends += dropped.sends
    sum.messages += dropped.messages
    if (state !== 'more') return { ...sum, progress: state }
  }
}

async function rows<Row>(text: string): Promise<readonly Row[]> {
  return (await client.query(text)).rows as Row[]
}
const count = async (from: string): Promise<number> =>
  (await rows<{ count: number }>(`select count(*)::int from ${from}`))[0]?.count ?? NaN
const assertLedger = async () => expect((await postgres.ports.ledger.check()).differences).toEqual([])
const statuses = (by: AccountId, ids: readonly MessageId[]) => postgres.ports.messages.status(by, ids, longAgo)
const single = (account: AccountId) => anOrder(account, { to: numbers(1) })

describe('blocks of a small installation', () => {
  test('history older than 90 days is dropped with everything about it, and its cost moves to the ledger', async () => {
    const { ports } = postgres
    const { id } = await anAccount(ports, { credits: 1000 })
    const ids = await acceptedIds(ports, anOrder(id, { to: numbers(20), costs: [10, 20] }))
    await dispatchAll(ports, ({ id, to }) =>
      id % 3 === 0
        ? { outcome: 'unknown' }
        : id % 3 === 1
          ? { outcome: 'refused' }
          : { outcome: 'accepted', reference: to, furtherReferences: [`${to}-2`] },
    )
    const balance = await ports.ledger.balance(id)
    expect(await count('incident')).toBeGreaterThan(0)
    expect(await count('message_part')).toBeGreaterThan(0)
    await letDaysPass(client, days)
    await letDaysPass(client, -0.01)
    expect(await dropAll()).toMatchObject({ sends: 0, progress: 'all' })
    await letDaysPass(client, 0.02)
    expect(await dropAll()).toEqual({ partitions: 0, sends: 2, messages: 20, progress: 'all' })
    expect(new Set(await statuses(id, ids))).toEqual(new Set(['not-found']))
    for (const table of ['send', 'message', 'message_part', 'incident', 'id_lease']) expect(await count(table)).toBe(0)
    expect(await ports.ledger.balance(id)).toBe(balance)
    expect(await rows(`select account_id, amount::int from ledger where kind = 4`)).toEqual([
      { account_id: id, amount: -390 },
    ])
    await assertLedger()
    expect(await dropAll()).toEqual({ partitions: 0, sends: 0, messages: 0, progress: 'all' })
  })

  test('failed log-ins are dropped when they no longer count', async () => {
    const { history, people } = postgres.ports
    const { loginFailures } = people
    await loginFailures.count('old', { failuresMax: 1, seconds: 0 })
    await loginFailures.count('new', { failuresMax: 1, seconds: 60 })
    // Inserts expired failures after the counts, because each count also deletes some expired failures.
    await client.query(
      'insert into login_failure (key, counted_by, failures, until) select key, counted_by, 1, now() from login_failure',
    )
    await history.drop(days, 730)
    expect(await count('login_failure')).toBe(1)
  })

  test('each account keeps its own debits, to a tenth of a credit', async () => {
    const { ports } = postgres
    const accounts: Account[] = []
    for (let i = 0; i < 3; i++) accounts.push(await anAccount(ports, { credits: 500 }))
    await Promise.all(
      accounts.flatMap(({ id }, i) =>
        Array.from({ length: 4 }, () => acceptedIds(ports, anOrder(id, { to: numbers(3), costs: [i + 1, 0, 7] }))),
      ),
    )
    await dispatchAll(ports)
    await letDaysPass(client, 91)
    expect(await dropAll()).toMatchObject({ sends: 36, messages: 36 })
    expect(await rows('select amount::int from ledger where kind = 4 order by account_id')).toEqual([
      { amount: -32 },
      { amount: -36 },
      { amount: -40 },
    ])
    await assertLedger()
  })

  test('a send stays whole if one of its messages waits, is in a claimed batch, or changed recently', async () => {
    const { ports } = postgres
    const { id } = await anAccount(ports)
    const waiting = await acceptedIds(ports, single(id))
    await client.query('update due set lane = 9')
    const changed = await acceptedIds(ports, anOrder(id, { to: numbers(3) }))
    await dispatchAll(ports)
    const claimed = await acceptedIds(ports, anOrder(id, { to: numbers(2) }))
    const unrecorded = await acceptedIds(ports, single(id))
    const dispatcher = await ports.claimedBatches.register(600)
    const request = { carrier: testCarrier, lane: 'single', messagesMax: 10, markedMax: 10, leaseSeconds: 600 } as const
    const batch = await ports.claimedBatches.claim(dispatcher, request)
    if (typeof batch === 'string') throw new Error(batch)
    const outcomes = batch.messages.slice(0, 2).map((message) => ({
      batch: batch.id,
      message,
      handover: { outcome: 'accepted', reference: `f${message.id}` } as const,
    }))
    await ports.claimedBatches.record(dispatcher, outcomes.slice(0, 1))
    const gone = await acceptedIds(ports, single(id))
    await dispatchAll(ports)
    await letDaysPass(client, 91)
    await ports.deliveryReceipts.apply([
      { carrier: testCarrier, reference: `r${changed[1]}`, code: 0, number: undefined, submitted: undefined },
    ])
    await client.query(`update message set code_at = now() where id = ${changed[1]}`)
    expect(await dropAll()).toMatchObject({ sends: 1, messages: 1 })
    expect(await statuses(id, gone)).toEqual(['not-found'])
    expect(await statuses(id, [...waiting, ...changed, ...claimed, ...unrecorded])).not.toContain('not-found')
    await assertLedger()

    // Records the outcomes before the batch has ended, so that a recovery would read their send.
    await ports.claimedBatches.record(dispatcher, outcomes)
    await letDaysPass(client, 91)
    expect(await dropAll()).toMatchObject({ sends: 1, messages: 3 })
    await ports.claimedBatches.retire(dispatcher)
    expect(await dropAll()).toMatchObject({ sends: 1, messages: 2 })
    expect(await statuses(id, [...waiting, ...unrecorded])).toMatchObject([{ code: 'waiting' }, { code: 106 }])
    expect(await count('send')).toBe(2)
    await assertLedger()
  })

  test('the age of a scheduled send counts from its due time', async () => {
    const { ports } = postgres
    const { id } = await anAccount(ports)
    const due = secondsAfter(instant(Date.now()), 200 * 86_400)
    const ids = await acceptedIds(ports, anOrder(id, { to: numbers(2), due }))
    await letDaysPass(client, 199)
    expect(await dropAll()).toMatchObject({ sends: 0 })
    expect(await statuses(id, ids)).toMatchObject([{ code: 'waiting' }, { code: 'waiting' }])
    await letDaysPass(client, 2)
    await ports.claimedBatches.promote(10)
    await dispatchAll(ports)
    await letDaysPass(client, 88)
    expect(await dropAll()).toMatchObject({ sends: 0 })
    await letDaysPass(client, 2)
    expect(await dropAll()).toMatchObject({ sends: 1, messages: 2 })
    await assertLedger()
  })

  test('nothing is dropped from a block that was leased in the last two days', async () => {
    const { ports } = postgres
    const { id } = await anAccount(ports)
    await acceptedIds(ports, single(id))
    await dispatchAll(ports)
    await letDaysPass(client, 91)
    await client.query(`update id_lease set at = now() - interval '47 hours'`)
    expect(await dropAll()).toMatchObject({ sends: 0 })
    expect(await ports.history.drop(0, 730)).toMatchObject({ sends: 0 })
    await client.query(`update id_lease set at = now() - interval '91 days'`)
    expect(await dropAll()).toMatchObject({ sends: 1 })
  })

  test('the last account that reached a number stays recorded for two years', async () => {
    const { ports } = postgres
    const [one, two] = [await anAccount(ports), await anAccount(ports)]
    const first = await acceptedIds(ports, single(one.id))
    await dispatchAll(ports)
    await letDaysPass(client, 30)
    await client.query(`update id_lease set at = at - interval '60 days'`)
    const last = await acceptedIds(ports, single(two.id))
    await dispatchAll(ports)
    await acceptedIds(ports, single(one.id))
    await dispatchAll(ports, () => ({ outcome: 'refused' }))
    await letDaysPass(client, 61)
    await dropAll()
    expect(await statuses(one.id, first)).toEqual(['not-found'])
    await letDaysPass(client, 30)
    await dropAll()
    expect(await count('message')).toBe(0)
    expect(await rows('select msisdn::text, sender, account_id, message_id::int from last_contact')).toEqual([
      { msisdn: numbers(1)[0], sender: 1, account_id: two.id, message_id: last[0] },
    ])
    await letDaysPass(client, 640)
    await dropAll()
    expect(await count('last_contact')).toBe(0)
  })

  test('a receipt of a dropped message is dropped some days later, and so are answers to old requests', async () => {
    const { ports } = postgres
    const { id } = await anAccount(ports)
    const [message] = await acceptedIds(ports, single(id))
    await dispatchAll(ports)
    await letDaysPass(client, 91)
    await dropAll()
    const receipt: DeliveryReceipt = {
      carrier: testCarrier,
      reference: `r${message}`,
      code: 0,
      number: undefined,
      submitted: undefined,
    }
    await ports.deliveryReceipts.apply([receipt])
    await ports.deliveryReceipts.storeUnread([{ ...receipt, text: 'which nobody can read', pdu: '', isMessage: false }])
    await ports.deliveryReceipts.storeUnknown(receipt.carrier, ['a'])
    expect(await ports.deliveryReceipts.match(10)).toBe(0)
    expect(await count('unknown_reference')).toBe(1)
    expect(await count('unmatched_delivery_receipt')).toBe(1)
    await letDaysPass(client, 1.9)
    await dropAll()
    expect(await count('unmatched_delivery_receipt')).toBe(1)
    expect(await count('unknown_reference')).toBe(0)
    await letDaysPass(client, 6)
    await dropAll()
    expect(await count('unmatched_delivery_receipt')).toBe(0)
    expect(await count('unread_delivery_receipt')).toBe(1)
    await letDaysPass(client, 23)
    await dropAll()
    expect(await count('unread_delivery_receipt')).toBe(0)
  })

  test('two concurrent processes drop everything once', async () => {
    const { ports } = postgres
    const { id } = await anAccount(ports, { credits: 100_000 })
    const processes = [1, 2, 3].map(() =>
      postgresPorts({ connectionString: database.connectionString, settings: patientSettings }),
    )
    for (const { ports } of processes) await acceptedIds(ports, anOrder(id, { to: numbers(1000) }))
    await dispatchAll(ports)
    await letDaysPass(client, 91)
    const dropped = { sends: 0, messages: 0 }
    await until(async () => {
      const steps = await Promise.all(processes.map(({ ports }) => ports.history.drop(days, 730)))
      for (const { sends, messages } of steps) {
        dropped.sends += sends
        dropped.messages += messages
      }
      return steps.every((step) => step.progress !== 'more') && steps.some((step) => step.progress === 'all')
    }, 20_000)
    expect(dropped).toEqual({ sends: 3, messages: 3000 })
    await assertLedger()
    await Promise.all(processes.map(({ close }) => close()))
  })
})

describe('races', () => {
  test('with late refusals, receipts, accepts and two droppers, every balance equals its ledger at every moment', async () => {
    const { ports } = postgres
    const { id } = await anAccount(ports, { credits: 1_000_000 })
    const other = postgresPorts({ connectionString: database.connectionString, settings: patientSettings })
    const ids: MessageId[] = []
    for (let i = 0; i < 60; i++)
      ids.push(...(await acceptedIds(ports, anOrder(id, { to: numbers(5), costs: [10, 10, 3] }))))
    await dispatchAll(ports, ({ id }) =>
      id % 2 === 0 ? { outcome: 'unknown' } : { outcome: 'accepted', reference: `r${id}` },
    )
    await letDaysPass(client, 91)
    const fenced = aDispatcherId(999_999)
    const unknown = ids.filter((message) => message % 2 === 0)
    const state = { running: true }
    const work = [
      ...unknown.map((message) => ports.claimedBatches.postpone(fenced, aClaimedBatchId(1), [message], 1)),
      ...unknown.map((message) => other.ports.claimedBatches.postpone(fenced, aClaimedBatchId(1), [message], 1)),
      ...ids.map((message) =>
        ports.deliveryReceipts.apply([
          { carrier: testCarrier, reference: `r${message}`, code: 0, number: undefined, submitted: undefined },
        ]),
      ),
      ...Array.from({ length: 40 }, () => ports.messages.accept(single(id))),
      dropAll(),
      dropAll(other.ports),
    ]
    const done = Promise.all(work).finally(() => (state.running = false))
    let checks = 0
    for (; state.running; checks++) await assertLedger()
    await done
    expect(checks).toBeGreaterThan(0)
    await assertLedger()
    const refunds = await rows<{ refunded: number; refused: number }>(
      `select (select coalesce(sum(amount), 0)::int from ledger where kind = 3) refunded,
        (select coalesce(sum(price), 0)::int from message m join send s on s.first_id = m.send_first_id where code = 111) refused`,
    )
    expect(refunds[0]?.refunded).toBe(refunds[0]?.refused)
    await other.close()
  })

  test('a late refusal keeps its send until the commit; one after the drop finds nothing and refunds nothing', async () => {
    const { ports } = postgres
    const { id } = await anAccount(ports, { credits: 100 })
    const [changed, free] = [await acceptedIds(ports, single(id)), await acceptedIds(ports, single(id))]
    await dispatchAll(ports, () => ({ outcome: 'unknown' }))
    await letDaysPass(client, 91)
    const refusing = new Client({ connectionString: database.connectionString })
    await refusing.connect()
    await refusing.query('begin')
    await refusing.query(`
      with u as (update message set code = 111, code_at = now() where id = ${changed[0]} returning account_id, send_first_id),
      l as (insert into ledger (account_id, kind, amount, send_first_id) select account_id, 3, 10, send_first_id from u)
      update account set balance = balance + 10 from u where id = u.account_id`)
    const dropped = dropAll()
    await until(
      async () => (await count("pg_stat_activity where wait_event_type = 'Lock' and query like '%drop_history%'")) > 0,
    )
    await refusing.query('commit')
    await refusing.end()
    expect(await dropped).toMatchObject({ sends: 1, messages: 1 })
    expect(await statuses(id, changed)).toMatchObject([{ code: 111, cost: 0 }])
    await ports.claimedBatches.postpone(aDispatcherId(1), aClaimedBatchId(1), [...changed, ...free], 1)
    expect(await ports.ledger.balance(id)).toBe(90)
    await assertLedger()
  })

  test('while a transaction changes a message, dropping reports that it is busy', async () => {
    const { ports } = postgres
    const { id } = await anAccount(ports)
    const [message] = await acceptedIds(ports, single(id))
    await dispatchAll(ports)
    await letDaysPass(client, 91)
    await client.query('begin')
    await client.query(`select from message where id = ${message} for update`)
    expect(await ports.history.drop(days, 730)).toMatchObject({ sends: 0, progress: 'busy' })
    await client.query('rollback')
    expect(await dropAll()).toMatchObject({ sends: 1, progress: 'all' })
  })
})

describe('partitions', () => {
  /** Sets up a partition 0 that filled up within a week, `daysAgo` days ago. New ids come from partition 2. */
  async function filledPartition(daysAgo: number): Promise<AccountId> {
    const { id } = await anAccount(postgres.ports, { credits: 100_000 })
    await client.query(
      `insert into id_lease (block, at) select b, now() - (${daysAgo} + (499 - b) / 100) * interval '1 day' from generate_series(0, 499) b`,
    )
    await client.query(`select setval('id_block', 1000)`)
    for (const firstId of [1, 20_000, 4_999_999])
      await storeSend(client, id, firstId, daysAgo, firstId === 20_000 ? 1000 : 1)
    return id
  }
  const partitions = async () =>
    (
      await rows<{ name: string }>(
        `select inhrelid::regclass::text name from pg_inherits where inhparent in ('send'::regclass, 'message'::regclass, 'message_part'::regclass) order by 1`,
      )
    ).map(({ name }) => name)

  test('a partition that filled up fast is dropped whole when its newest send is old enough, and not block by block before', async () => {
    const { ports } = postgres
    const id = await filledPartition(89)
    expect(await dropAll()).toMatchObject({ partitions: 0, sends: 0, progress: 'all' })
    await letDaysPass(client, 2)
    await acceptedIds(ports, single(id))
    const before = await ports.ledger.balance(id)
    expect(await dropAll()).toEqual({ partitions: 1, sends: 3, messages: 1002, progress: 'all' })
    expect(await partitions()).not.toContain('send_p0')
    expect(await partitions()).not.toContain('message_p0')
    expect(await partitions()).not.toContain('message_part_p0')
    expect(await rows('select amount::int, why from ledger where kind = 4')).toEqual([
      { amount: -10_020, why: 'sends of partition 0' },
    ])
    expect(await count('id_lease where block < 500')).toBe(0)
    expect(await count('last_contact')).toBe(1000)
    expect(await ports.ledger.balance(id)).toBe(before)
    await assertLedger()
    await acceptedIds(ports, single(id))
    await dispatchAll(ports)
    expect(await statuses(id, [aMessageId(1)])).toEqual(['not-found'])
    await assertLedger()
  })

  test.each([
    ['a send was due of late', `update send set scheduled_at = now() where first_id = 1`],
    ['a message changed of late', `update message set code_at = now() where id = 20_500`],
    [
      'something waits to be tried again',
      `insert into later (lane, account_id, lo, hi, first_id, due_at, at) values (0, 1, 1, 2, 1, now(), now())`,
    ],
    ['something is due', `insert into due (lane, account_id, lo, hi, first_id) values (9, 1, 1, 2, 1)`],
    [
      'something is in a claimed batch',
      `insert into claimed_batch (dispatcher, seq, carrier, lane, marked, ids, send_first_ids) values (7, 1, 0, 0, 0, array[null, 4999999], '{}')`,
    ],
    ['a block of it was leased two days ago', `update id_lease set at = now() - interval '47 hours' where block = 7`],
    ['its tables are not together', `alter table message detach partition message_p0`],
    ['its parts are elsewhere', `alter table message_part detach partition message_part_p0`],
  ])('a partition is not dropped while %s', async (_, change) => {
    await filledPartition(95)
    await client.query("insert into dispatcher (id, lease_until) values (7, now() + interval '1 day')")
    await client.query(change)
    const before = await partitions()
    expect(await dropAll()).toMatchObject({ partitions: 0, sends: 0 })
    expect(await partitions()).toEqual(before)
    if (!change.includes('detach')) await assertLedger()
  })

  test('one of the two newest partitions is dropped block by block', async () => {
    await filledPartition(95)
    await client.query(`select setval('id_block', 999)`)
    expect(await dropAll()).toMatchObject({ partitions: 0, sends: 3, messages: 1002 })
    expect(await partitions()).toContain('send_p0')
    await assertLedger()
  })

  test('a partition that is kept for over a month is dropped block by block, and whole when it is empty', async () => {
    await filledPartition(130)
    await client.query('update send set scheduled_at = now() where first_id = 1')
    expect(await dropAll()).toMatchObject({ partitions: 0, sends: 2, messages: 1001, progress: 'all' })
    expect(await count('id_lease where block < 500')).toBe(1)
    await letDaysPass(client, 91)
    expect(await dropAll()).toMatchObject({ partitions: 1, sends: 1, messages: 1, progress: 'all' })
    expect(await count('id_lease where block < 500')).toBe(0)
    await assertLedger()
  })

  test('a slow reader delays only the drop, not accepts', async () => {
    const { ports } = postgres
    const id = await filledPartition(95)
    await client.query('begin')
    await client.query('select count(*) from send')
    const state = { running: true }
    const dropped = dropAll().finally(() => (state.running = false))
    let longest = 0
    for (let accepts = 0; state.running || accepts < 10; accepts++) {
      const began = performance.now()
      await acceptedIds(ports, single(id))
      longest = Math.max(longest, performance.now() - began)
    }
    expect(await dropped).toMatchObject({ partitions: 0, progress: 'busy' })
    expect(longest).toBeLessThan(3000)
    await client.query('rollback')
    await assertLedger()
    expect(await dropAll()).toMatchObject({ partitions: 1, sends: 3 })
    await assertLedger()
  })

  test('the ledger is right at every moment while a partition is dropped under traffic', async () => {
    const { ports } = postgres
    const id = await filledPartition(95)
    await storeSend(client, id, 30_000, 95, 5)
    await client.query('update message set code = 106, carrier_id = null where id between 30000 and 30004')
    const state = { running: true }
    const work = Promise.all([
      dropAll(),
      ...[30_000, 30_001, 30_002].map((message) =>
        ports.claimedBatches.postpone(aDispatcherId(1), aClaimedBatchId(1), [aMessageId(message)], 1),
      ),
      ...Array.from({ length: 60 }, () => acceptedIds(ports, single(id))),
      ...Array.from({ length: 10 }, () => ports.deliveryReceipts.match(100)),
    ]).finally(() => (state.running = false))
    while (state.running) await assertLedger()
    await work
    await until(async () => (await dropAll()).progress === 'all')
    await assertLedger()
  })

  test('a process with prepared statements keeps working after a partition was dropped', async () => {
    const { ports } = postgres
    const id = await filledPartition(95)
    const receipt = { carrier: testCarrier, code: 0, number: undefined, submitted: undefined } as const
    for (const reference of ['a', 'b']) {
      await acceptedIds(ports, single(id))
      await dispatchAll(ports)
      await ports.deliveryReceipts.apply([{ ...receipt, reference }])
      await ports.deliveryReceipts.match(10)
      await statuses(id, [aMessageId(2), aMessageId(2 * perPartition + 1)])
      await dropAll()
    }
    expect(await partitions()).not.toContain('send_p0')
    await assertLedger()
  })
})

describe('skipped ids', () => {
  test('after a restore, no new id is below the returned one, and its partitions exist', async () => {
    const open = (ids: 'own-block' | 'shared-block') =>
      postgresPorts({ connectionString: database.connectionString, settings: { ...patientSettings, ids } })
    const before = open('shared-block')
    const { id } = await anAccount(before.ports, { credits: 1000 })
    await acceptedIds(before.ports, single(id))
    await before.close()
    const command = open('shared-block')
    const from = await command.ports.history.skipIds(1200)
    await command.close()
    const partition = Math.floor(from / perPartition)
    for (const k of [partition, partition + 1]) {
      expect(
        await rows(`select to_regclass('message_p${k}') is not null and to_regclass('send_p${k}') is not null "is"`),
      ).toEqual([{ is: true }])
    }
    for (const ids of ['own-block', 'shared-block', 'shared-block'] as const) {
      const process = open(ids)
      const fresh = await acceptedIds(process.ports, anOrder(id, { to: numbers(3) }))
      expect(Math.min(...fresh)).toBeGreaterThanOrEqual(from)
      await process.close()
    }
    await dispatchAll(postgres.ports)
    await assertLedger()
  })

  test('no block is leased twice while others lease blocks', async () => {
    const leased: number[] = []
    const lease = async () => {
      for (let i = 0; i < 30; i++)
        leased.push((await rows<{ lo: number }>('select lo::int from lease_block()'))[0]?.lo ?? NaN)
    }
    await Promise.all([lease(), ...Array.from({ length: 10 }, () => postgres.ports.history.skipIds(2))])
    await lease()
    expect(new Set(leased).size).toBe(60)
    expect(leased).toEqual([...leased].sort((a, b) => a - b))
  })

  test('a million blocks are skipped', async () => {
    expect(await postgres.ports.history.skipIds(1_000_000)).toBe(10_000_000_000)
  }, 60_000)
})
