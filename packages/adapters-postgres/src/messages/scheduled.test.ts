import { Client } from 'pg'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { Deletion, MessageId } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { anAccount, anOrder, numbers, until } from '@gateway/core/testing'
import { cuttableDatabase, type CuttableDatabase } from '../../testing/cuttable-database.ts'
import type { Cut } from '../../testing/cutting-proxy.ts'
import { postgresPorts } from '../postgres-ports.ts'

const farAhead = instant(Date.UTC(2201, 0, 1))
const longAgo = instant(Date.UTC(2001, 0, 1))

let database: CuttableDatabase
beforeEach(async () => {
  database = await cuttableDatabase()
})
afterEach(() => database.drop())

async function schedule({ messages }: StoredPorts, by: AccountId, to: number): Promise<readonly MessageId[]> {
  const acceptance = await messages.accept(anOrder(by, { to: numbers(to), due: farAhead }))
  if (typeof acceptance === 'string') throw new Error(acceptance)
  return acceptance.results.flat().filter((id) => id !== 'insufficient-credits')
}

const deletions = (ports: StoredPorts, by: AccountId, ids: readonly MessageId[]) =>
  ports.messages.deleteScheduled(by, ids, longAgo)

const outcomes = (of: readonly Deletion[]) => of.map(({ outcome }) => outcome)

async function assertRefunds(by: AccountId, balance: number, deletedCount: number): Promise<void> {
  expect(await database.direct.ports.ledger.balance(by)).toBe(balance)
  expect((await database.direct.ports.ledger.check()).differences).toEqual([])
  const { rows } = await database.client.query<{ count: number }>(
    'select count(*)::int from message where code = 102 and account_id = $1',
    [by],
  )
  expect(rows[0]?.count).toBe(deletedCount)
}

describe.each<Cut>(['before-it-arrives', 'after-it-arrived', 'before-its-answer'])(
  'a delete whose connection breaks %s',
  (where) => {
    test('deletes and refunds once, and returns exactly what it deleted', async () => {
      const { direct, cuttable, proxy } = database
      const { id } = await anAccount(direct.ports, { credits: 1000 })
      const ids = [...(await schedule(direct.ports, id, 12)), ...(await schedule(direct.ports, id, 1))]
      const sent = await direct.ports.messages.accept(anOrder(id, { to: numbers(1) }))
      const atOnce = typeof sent === 'string' ? [] : (sent.results.flat() as MessageId[])
      await deletions(direct.ports, id, ids.slice(0, 2))
      await cuttable.ports.ledger.balance(id)

      const cut = proxy.cut(where, 'delete-waiting')
      const results = await deletions(cuttable.ports, id, [
        ...ids.slice(0, 5),
        ...ids.slice(10),
        ...ids.slice(4, 5),
        ...atOnce,
      ])
      await cut
      expect(outcomes(results)).toEqual([
        ...['not-found', 'not-found', 'deleted', 'deleted', 'deleted'],
        ...['deleted', 'deleted', 'deleted', 'not-found', 'sent'],
      ])
      for (const deletion of results) {
        if (deletion.outcome === 'deleted') expect(deletion.refunded).toBe(10)
      }
      expect(results[4]).toEqual({ outcome: 'deleted', number: numbers(12)[4], refunded: 10 })
      await assertRefunds(id, 1000 - 60, 8)
    })
  },
)

test('a delete whose connection breaks repeatedly is an error, and nothing is refunded twice', async () => {
  const { direct, cuttable, proxy } = database
  const { id } = await anAccount(direct.ports, { credits: 100 })
  const ids = await schedule(direct.ports, id, 5)
  const cuts = (async () => {
    for (let i = 0; i < 4; i++) await proxy.cut('before-it-arrives', 'delete-waiting')
  })()
  await expect(deletions(cuttable.ports, id, ids)).rejects.toThrow('lost')
  await cuts
  await assertRefunds(id, 50, 0)
  expect(outcomes(await deletions(cuttable.ports, id, ids))).toEqual(ids.map(() => 'deleted'))
  await assertRefunds(id, 100, 5)
})

test('a server process whose answer is given up deletes nothing afterwards', async () => {
  const { direct, cuttable, proxy, blockedBy } = database
  const { id } = await anAccount(direct.ports, { credits: 100 })
  const ids = await schedule(direct.ports, id, 5)
  const holder = new Client({ connectionString: database.connectionString })
  await holder.connect()
  await holder.query('begin')
  await holder.query('select from account where id = $1 for update', [id])
  const deleting = deletions(cuttable.ports, id, ids.slice(0, 2))
  const old = await until(() => blockedBy(holder))
  proxy.breakAll()
  // Waits until a second server process is blocked. The first process must have ended by then, because otherwise the
  // second would not find the messages that the first deletes.
  await until(async () => {
    const pid = await blockedBy(holder)
    return pid !== undefined && pid !== old
  })
  const { rows } = await database.client.query('select from pg_stat_activity where pid = $1', [old])
  expect(rows).toHaveLength(0)
  await holder.query('commit')
  expect(outcomes(await deleting)).toEqual(['deleted', 'deleted'])
  await assertRefunds(id, 70, 2)
  await holder.end()
})

test('of two calls, one of which loses its answer, only one reports a message as deleted', async () => {
  const { direct, cuttable, proxy } = database
  const { id } = await anAccount(direct.ports, { credits: 1000 })
  for (let round = 0; round < 10; round++) {
    const ids = await schedule(direct.ports, id, 15)
    const where =
      (['before-it-arrives', 'after-it-arrived', 'before-its-answer'] as const)[round % 3] ?? 'after-it-arrived'
    const cut = proxy.cut(where, 'delete-waiting')
    const both = await Promise.all([
      deletions(cuttable.ports, id, ids.slice(0, 10)),
      deletions(direct.ports, id, ids.slice(5)),
    ])
    await cut
    expect(outcomes(both.flat()).filter((outcome) => outcome === 'deleted')).toHaveLength(15)
    await assertRefunds(id, 1000, (round + 1) * 15)
  }
})

test('a database that stays away is an error in bounded time', async () => {
  const { direct, proxy } = database
  const { id } = await anAccount(direct.ports, { credits: 100 })
  const ids = await schedule(direct.ports, id, 2)
  const away = postgresPorts({
    connectionString: proxy.connectionString,
    settings: { longStatementSeconds: 0.2, connectionSeconds: 0.2, lookUpSeconds: 0.5 },
  })
  // A busy machine may need longer for a first connection.
  await until(() => away.ports.ledger.balance(id).catch(() => undefined))
  proxy.freeze()
  const begun = performance.now()
  await expect(deletions(away.ports, id, ids)).rejects.toThrow('is unknown: the database does not answer')
  expect(performance.now() - begun).toBeLessThan(6000)
  await away.close(0.1)
})
