import { Client } from 'pg'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import type { Acceptance, Body, MessageId, Order } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { aNumber, anAccountId, anAccount, anAddress, anOrder, numbers, until } from '@gateway/core/testing'
import { cuttableDatabase, type CuttableDatabase } from '../../testing/cuttable-database.ts'
import type { Cut, CuttingProxy } from '../../testing/cutting-proxy.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'
import { patientSettings } from '../../testing/patient-settings.ts'

let database: CuttableDatabase
let proxy: CuttingProxy
let cuttable: PostgresPorts
let direct: PostgresPorts
let client: Client

beforeEach(async () => {
  database = await cuttableDatabase()
  ;({ proxy, cuttable, direct, client } = database)
})
afterEach(() => database.drop())

const single = (account: AccountId): Order => anOrder(account, { to: numbers(1) })

async function accepted(ports: StoredPorts, order: Order): Promise<Acceptance & { ids: readonly MessageId[] }> {
  const acceptance = await ports.messages.accept(order)
  if (typeof acceptance === 'string') throw new Error(acceptance)
  return { ...acceptance, ids: acceptance.results.flat().filter((id) => id !== 'insufficient-credits') }
}

/** Returns the ids of all stored messages, each once if nothing was stored twice. */
async function storedIds(): Promise<readonly number[]> {
  const { rows } = await client.query<{ id: string }>(
    `select id from send, generate_series(first_id, first_id + n - 1) id order by id`,
  )
  return rows.map(({ id }) => Number(id))
}

async function assertLedger(): Promise<void> {
  expect((await direct.ports.ledger.check()).differences).toEqual([])
}

describe.each<Cut>(['before-it-arrives', 'after-it-arrived', 'before-its-answer'])(
  'an accept whose connection breaks %s',
  (where) => {
    test('is accepted exactly once, together with the other orders of its statement', async () => {
      const { id } = await anAccount(direct.ports, { credits: 10_000 })
      await accepted(cuttable.ports, single(id))
      const cut = proxy.cut(where, 'accept')
      const orders = Array.from({ length: 20 }, (_, i) => anOrder(id, { to: numbers(1 + (i % 3)) }))
      const acceptances = await Promise.all(orders.map((order) => accepted(cuttable.ports, order)))
      await cut
      const ids = acceptances.flatMap((acceptance) => acceptance.ids)
      expect(ids).toHaveLength(39)
      expect(new Set(ids).size).toBe(39)
      expect((await storedIds()).slice(1)).toEqual(ids.toSorted((a, b) => a - b))
      expect(await direct.ports.ledger.balance(id)).toBe(10_000 - 400)
      await assertLedger()
    })

    test('never spends the last credits twice', async () => {
      const { id } = await anAccount(direct.ports, { credits: 25 })
      await cuttable.ports.messages.status(id, [], instant(0))
      const cut = proxy.cut(where, 'accept')
      const { ids, balance } = await accepted(cuttable.ports, anOrder(id, { to: numbers(2) }))
      await cut
      expect(ids).toHaveLength(2)
      expect(balance).toBe(5)
      expect(await storedIds()).toEqual(ids)
      await assertLedger()
    })

    test('under the lock of its account is decided exactly once too', async () => {
      const { id } = await anAccount(direct.ports, { credits: 25 })
      await accepted(cuttable.ports, single(id))
      const cut = proxy.cut(where, 'lock-account')
      const { ids, balance } = await accepted(cuttable.ports, anOrder(id, { to: numbers(4) }))
      await cut
      expect(ids).toHaveLength(1)
      expect(balance).toBe(5)
      expect((await storedIds()).slice(1)).toEqual(ids)
      await assertLedger()
    })
  },
)

test('an accept under the lock of its account whose commit was not answered is not decided twice', async () => {
  const { id } = await anAccount(direct.ports, { credits: 25 })
  await accepted(cuttable.ports, single(id))
  const cut = proxy.cut('before-its-answer', 'commit')
  const { ids } = await accepted(cuttable.ports, anOrder(id, { to: numbers(4) }))
  await cut
  expect(ids).toHaveLength(1)
  expect((await storedIds()).slice(1)).toEqual(ids)
  await assertLedger()
})

test('a server process whose answer is given up stores nothing afterwards', async () => {
  const { id } = await anAccount(direct.ports, { credits: 20 })
  const watcher = new Client({ connectionString: database.connectionString })
  await watcher.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() pid')
  const lock = async () => {
    await client.query('begin')
    await client.query('select from account where id = $1 for update', [id])
  }
  const waiting = () =>
    until(async () => {
      const blocked = await watcher.query<{ pid: number }>(
        'select pid from pg_stat_activity where $1 = any (pg_blocking_pids(pid))',
        [rows[0]?.pid],
      )
      return blocked.rows[0]?.pid
    })

  await lock()
  const first = accepted(cuttable.ports, single(id))
  const old = await waiting()
  await client.query('commit')
  await first

  await lock()
  const cut = proxy.cut('after-it-arrived', 'accept')
  const second = accepted(cuttable.ports, single(id))
  await cut
  // If the old server process were not ended, it would pay first, and the order would be refused for lack of credits.
  const next = await until(async () => {
    const pid = await waiting()
    return pid !== old && pid
  })
  await client.query('commit')
  expect(next).not.toBe(old)
  const ids = [...(await first).ids, ...(await second).ids]
  expect(ids).toHaveLength(2)
  expect(await storedIds()).toEqual(ids)
  await assertLedger()
  await watcher.end()
})

test('a database that stays away is an error in bounded time', async () => {
  const { id } = await anAccount(direct.ports, { credits: 100 })
  const away = postgresPorts({
    connectionString: proxy.connectionString,
    settings: { statementSeconds: 0.2, connectionSeconds: 0.2, lookUpSeconds: 0.5 },
  })
  // A busy machine may need longer for a first connection.
  await until(() => accepted(away.ports, single(id)).catch(() => undefined))
  proxy.freeze()
  const begun = performance.now()
  await expect(away.ports.messages.accept(single(id))).rejects.toThrow(/does not answer/)
  expect(performance.now() - begun).toBeLessThan(6000)
  await away.close(0.1)
})

test('a text that the database rejects fails its own order only', async () => {
  const { id } = await anAccount(direct.ports, { credits: 10_000 })
  const wrong: Body = { text: 'no\0text', encoding: 'gsm-7', parts: 1 }
  const bad: Order = {
    account: id,
    senders: [anAddress()],
    texts: [
      {
        body: wrong,
        due: undefined,
        to: [{ number: aNumber(), cost: credits(10) }],
      },
    ],
  }
  const orders = Array.from({ length: 40 }, (_, i) => (i % 10 === 5 ? bad : single(id)))
  const results = await Promise.allSettled(orders.map((order) => accepted(direct.ports, order)))
  expect(results.map(({ status }) => status)).toEqual(orders.map((order) => (order === bad ? 'rejected' : 'fulfilled')))
  expect(await storedIds()).toHaveLength(36)
  await assertLedger()
})

test('a negative cost is refused', async () => {
  const { id } = await anAccount(direct.ports, { credits: 100 })
  const order = anOrder(id, { to: numbers(1), costs: [-10] })
  await expect(direct.ports.messages.accept(order)).rejects.toThrow(RangeError)
})

test('a missing account fails its own order only', async () => {
  const { id } = await anAccount(direct.ports)
  const orders = [single(id), single(id), single(anAccountId(4711)), single(id)]
  const results = await Promise.allSettled(orders.map((order) => accepted(direct.ports, order)))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
})

test('beyond the maximum of waiting orders an order is answered overloaded without effect, until the others are done', async () => {
  const { id } = await anAccount(direct.ports, { credits: 10_000 })
  const bounded = postgresPorts({
    connectionString: database.connectionString,
    settings: { waitingOrdersMax: 10, waitingRecipientsMax: 100 },
  })
  const { messages } = bounded.ports
  const results = await Promise.all(Array.from({ length: 64 }, () => messages.accept(single(id))))
  expect(results.filter((result) => result === 'overloaded')).toHaveLength(54)
  expect(await direct.ports.ledger.balance(id)).toBe(10_000 - 100)
  const [large, next] = await Promise.all([
    messages.accept(anOrder(id, { to: numbers(100) })),
    messages.accept(single(id)),
  ])
  expect(large).not.toBe('overloaded')
  expect(next).toBe('overloaded')
  expect(await messages.accept(single(id))).not.toBe('overloaded')
  await bounded.close()
})

test('two processes that race for the last credits of an account accept exactly as many messages as the credits allow', async () => {
  const { id } = await anAccount(direct.ports, { credits: 205 })
  const other = postgresPorts({ connectionString: database.connectionString, settings: patientSettings })
  const orders = Array.from({ length: 64 }, (_, i) => anOrder(id, { to: numbers(1 + (i % 5)), costs: [7, 3, 10] }))
  const acceptances = await Promise.all(
    orders.map((order, i) => accepted(i % 2 === 0 ? direct.ports : other.ports, order)),
  )
  const ids = acceptances.flatMap((acceptance) => acceptance.ids)
  expect(await storedIds()).toEqual(ids.toSorted((a, b) => a - b))
  const balance = await direct.ports.ledger.balance(id)
  expect(balance).toBeLessThan(3)
  await assertLedger()
  await other.close()
})

test('orders without credits use up no ids', async () => {
  const { id } = await anAccount(direct.ports, { credits: 0 })
  for (let i = 0; i < 30; i++)
    await Promise.all([1, 2, 3].map(() => accepted(direct.ports, anOrder(id, { to: numbers(900) }))))
  const { rows } = await client.query<{ count: number }>('select count(*)::int from id_lease')
  expect(rows[0]?.count).toBeLessThanOrEqual(2)
})

test('an order with more recipients than a block has ids gets ascending ids, and no send crosses the end of a block', async () => {
  const { id } = await anAccount(direct.ports, { credits: 300_000 })
  const { ids } = await accepted(direct.ports, anOrder(id, { to: numbers(23_456) }))
  expect(ids).toHaveLength(23_456)
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
  expect(await storedIds()).toEqual(ids)
})

test('processes that share a block get ids of their own', async () => {
  const { id } = await anAccount(direct.ports, { credits: 10_000 })
  const commands = Array.from({ length: 4 }, () =>
    postgresPorts({
      connectionString: database.connectionString,
      settings: { ...patientSettings, ids: 'shared-block' },
    }),
  )
  const acceptances = await Promise.all(commands.map(({ ports }) => accepted(ports, anOrder(id, { to: numbers(120) }))))
  expect(new Set(acceptances.flatMap(({ ids }) => ids)).size).toBe(480)
  const { rows } = await client.query<{ count: number }>('select count(*)::int from id_lease')
  expect(rows[0]?.count).toBe(1)
  await Promise.all(commands.map(({ close }) => close()))
})

test('the ledger has no difference at any moment while orders, refusals and top-ups run', async () => {
  const accounts = await Promise.all(Array.from({ length: 5 }, () => anAccount(direct.ports, { credits: 200 })))
  const { messages, ledger } = direct.ports
  const state = { running: true }
  const work = Promise.all(
    accounts.flatMap(({ id }) =>
      [1, 2, 3].map(async (size) => {
        for (let i = 0; i < 15; i++) {
          await messages.accept(anOrder(id, { to: numbers(size * 4), costs: [9, 4, 13] }))
          await ledger.topUp(id, credits(30), 'more', instant(Date.now()))
        }
      }),
    ),
  ).finally(() => (state.running = false))
  let checks = 0
  for (; state.running; checks++) await assertLedger()
  await work
  await assertLedger()
  expect(checks).toBeGreaterThan(0)
})
