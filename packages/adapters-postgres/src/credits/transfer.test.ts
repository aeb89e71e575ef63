import { Client } from 'pg'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { IdempotencyKey } from '@gateway/core/client-requests'
import { credits } from '@gateway/core/credits'
import { instant } from '@gateway/core/time'
import { anAccount, until } from '@gateway/core/testing'
import { cuttableDatabase, type CuttableDatabase } from '../../testing/cuttable-database.ts'
import type { Cut } from '../../testing/cutting-proxy.ts'
import { postgresPorts } from '../postgres-ports.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))

let database: CuttableDatabase
let from: AccountId
let to: AccountId
beforeEach(async () => {
  database = await cuttableDatabase()
  from = (await anAccount(database.direct.ports, { credits: 100 })).id
  to = (await anAccount(database.direct.ports, { credits: 0 })).id
})
afterEach(() => database.drop())

const moved = ({ ledger }: StoredPorts, amount: number) => ledger.transfer({ from, to, amount: credits(amount) }, now)

async function assertBalances(...expected: readonly number[]): Promise<void> {
  const { ledger } = database.direct.ports
  expect(await Promise.all([from, to].map((id) => ledger.balance(id)))).toEqual(expected)
  expect((await ledger.check()).differences).toEqual([])
}

describe.each<Cut>(['before-it-arrives', 'after-it-arrived', 'before-its-answer'])(
  'a transfer whose connection breaks %s',
  (where) => {
    test('happens once and is reported as done', async () => {
      const { cuttable, proxy } = database
      const cut = proxy.cut(where, 'transfer')
      expect(await moved(cuttable.ports, 100)).toBe('done')
      await cut
      await assertBalances(0, 100)
    })

    test('is reported as refused if it was', async () => {
      const { cuttable, proxy } = database
      const cut = proxy.cut(where, 'transfer')
      expect(await moved(cuttable.ports, 101)).toBe('insufficient-credits')
      await cut
      await assertBalances(100, 0)
    })
  },
)

test('a transfer whose connection breaks repeatedly before it arrives has failed, and nothing moved', async () => {
  const { cuttable, proxy } = database
  const cuts = (async () => {
    for (let i = 0; i < 4; i++) await proxy.cut('before-it-arrives', 'transfer')
  })()
  expect(await moved(cuttable.ports, 10)).toBe('failed')
  await cuts
  await assertBalances(100, 0)
})

test('such a transfer with a key is an error, because the same request may have moved credits before', async () => {
  const { cuttable, proxy } = database
  const request = { account: from, key: 'invoice 7' as IdempotencyKey, canonical: 'a transfer' }
  const once = () => cuttable.ports.ledger.transferOnce({ from, to, amount: credits(10) }, now, request)
  expect(await once()).toBe('done')
  const cuts = (async () => {
    for (let i = 0; i < 4; i++) await proxy.cut('before-it-arrives', 'transfer')
  })()
  await expect(once()).rejects.toThrow('is unknown: the database does not answer')
  await cuts
  expect(await once()).toBe('repeated')
  await assertBalances(90, 10)
})

test('a server process whose answer is given up moves nothing afterwards', async () => {
  const { cuttable, proxy, blockedBy } = database
  const holder = new Client({ connectionString: database.connectionString })
  await holder.connect()
  await holder.query('begin')
  await holder.query('select from account where id = $1 for update', [to])
  const transfer = moved(cuttable.ports, 60)
  const old = await until(() => blockedBy(holder))
  proxy.breakAll()
  await until(async () => {
    const pid = await blockedBy(holder)
    return pid !== undefined && pid !== old
  })
  await holder.query('commit')
  expect(await transfer).toBe('done')
  await assertBalances(40, 60)
  await holder.end()
})

test.each([
  ['update account set balance = balance - 50 where id = $1', 'from', 'insufficient-credits'],
  ['update account set locked = true where id = $1', 'from', 'from-account-locked'],
  ['update account set locked = true where id = $1', 'to', 'to-account-locked'],
] as const)(
  'a transfer that had to wait is decided by the state after the wait: %s (%s) is %s',
  async (change, side, result) => {
    const { cuttable, blockedBy } = database
    const holder = new Client({ connectionString: database.connectionString })
    await holder.connect()
    await holder.query('begin')
    await holder.query(change, [side === 'from' ? from : to])
    const transfer = moved(cuttable.ports, 60)
    await until(() => blockedBy(holder))
    await holder.query('commit')
    expect(await transfer).toBe(result)
    await holder.end()
  },
)

test('a transfer that never reached the database has failed; one with an unknown outcome is an error', async () => {
  const { proxy } = database
  const settings = { statementSeconds: 0.2, connectionSeconds: 0.2, lookUpSeconds: 0.5 }
  const away = postgresPorts({ connectionString: proxy.connectionString, settings })
  const neverThere = postgresPorts({ connectionString: proxy.connectionString, settings })
  // A busy machine may need longer for a first connection.
  await until(async () => (await moved(away.ports, 1)) === 'done')
  proxy.freeze()
  expect(await moved(neverThere.ports, 10)).toBe('failed')
  await expect(moved(away.ports, 10)).rejects.toThrow('is unknown: the database does not answer')
  await Promise.all([away.close(0.1), neverThere.close(0.1)])
  await assertBalances(99, 1)
})

test('each of 64 transfers by two processes over a breaking network counts once', async () => {
  const { direct, cuttable, proxy } = database
  const ids = [from, to]
  for (let i = 0; i < 3; i++) ids.push((await anAccount(direct.ports, { credits: 100 })).id)
  const expected = new Map(ids.map((id) => [id, id === to ? 0 : 100]))
  const state = { running: true }
  let done = 0
  const cuts = (async () => {
    for (let i = 0; state.running && i < 12; i++) {
      const where = (['before-it-arrives', 'after-it-arrived', 'before-its-answer'] as const)[i % 3]
      if (where !== undefined) await Promise.race([proxy.cut(where, 'transfer'), until(() => !state.running, 60_000)])
    }
  })()
  await Promise.all(
    Array.from({ length: 64 }, async (_, i) => {
      const [a, b] = [ids[i % 5], ids[(i + 1 + (i % 4)) % 5]] as [AccountId, AccountId]
      const amount = 5 + 3 * (i % 7)
      const { ledger } = i % 4 === 0 ? direct.ports : cuttable.ports
      const result = await ledger.transfer({ from: a, to: b, amount: credits(amount) }, now)
      // A busy machine may get no connection in time. Then nothing moved, as the balances show.
      if (result === 'insufficient-credits' || result === 'failed') return
      expect(result).toBe('done')
      done++
      expected.set(a, (expected.get(a) ?? 0) - amount)
      expected.set(b, (expected.get(b) ?? 0) + amount)
    }),
  ).finally(() => (state.running = false))
  await cuts
  expect(done).toBeGreaterThan(10)
  for (const [id, balance] of expected) expect(await direct.ports.ledger.balance(id)).toBe(balance)
  expect(await direct.ports.ledger.check()).toMatchObject({ balances: 400, differences: [] })
})
