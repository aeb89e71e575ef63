import { Client } from 'pg'
import { sql } from 'kysely'
import { until } from '@gateway/core/testing'
import { cuttingProxy } from '../testing/cutting-proxy.ts'
import { freshDatabase, type FreshDatabase } from '../testing/fresh-database.ts'
import { isLostAnswer } from './errors.ts'
import { openPools, type Pools } from './pools.ts'
import { serverAddress } from './server-address.ts'
import { defaultSettings, silent, type Settings } from './settings.ts'
import type { Statement } from './sql/statement.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

async function withPools(
  work: (pools: Pools) => Promise<void>,
  settings: Partial<Settings> = {},
  connectionString = database.connectionString,
): Promise<void> {
  const pools = openPools(serverAddress(connectionString), { ...defaultSettings, ...settings }, silent)
  try {
    await work(pools)
  } finally {
    await pools.close(1)
  }
}

const statement = <Row>(text: string): Statement<readonly [], Row> => ({ name: '', text, valuesOf: () => [] })

test('hot connections plan without statistics, and both have their time limits', async () => {
  await withPools(async ({ hot, ordinary }) => {
    const show = statement<{ plan: string; hash: string; jit: string; statement: string; lock: string }>(
      `select current_setting('plan_cache_mode') plan, current_setting('enable_hashjoin') hash,
        current_setting('jit') jit, current_setting('statement_timeout') statement, current_setting('lock_timeout') lock`,
    )
    const limits = { jit: 'off', lock: '5s' }
    expect(await hot.run(show, [])).toEqual([{ ...limits, plan: 'force_generic_plan', hash: 'off', statement: '10s' }])
    expect(await ordinary.run(show, [])).toEqual([{ ...limits, plan: 'auto', hash: 'on', statement: '2min' }])
  })
})

test('the durations of statements and commits are counted, and the use of connections', async () => {
  await withPools(async ({ hot, timings, use }) => {
    const named = { ...statement('select 1'), name: 'named' }
    await hot.run(named, [])
    await hot.run(statement('select 1'), [])
    await hot.transaction(async (connection) => {
      await connection.run(named, [])
      expect(use()).toMatchObject({ hot: { busy: 1, waiting: 0 }, ordinary: { busy: 0 } })
    })
    const count = (counts: readonly number[] = []) => counts.reduce((sum, one) => sum + one, 0)
    expect(timings.statements().map(([name, { counts }]) => [name, count(counts)])).toEqual([['named', 2]])
    expect(count(timings.commits().counts)).toBe(1)
    expect(use().hot).toEqual({ busy: 0, idle: 1, waiting: 0 })
  })
})

test('a bigint is a number, and one that would lose digits throws', async () => {
  await withPools(async ({ hot }) => {
    expect(await hot.run(statement(`select 9007199254740991::bigint n, now() > 'epoch' t`), [])).toEqual([
      { n: Number.MAX_SAFE_INTEGER, t: true },
    ])
    const beyond = hot.run(statement('select 9007199254740992::bigint'), [])
    await expect(beyond).rejects.toMatchObject({ cause: { message: 'the bigint 9007199254740992 is beyond 2^53' } })
    expect(await hot.run(statement('select 1 n'), [])).toEqual([{ n: 1 }])
  })
})

test('a missing database is an error within two seconds', async () => {
  for (const connectionString of ['postgres://gateway@127.0.0.1:1/none', 'postgres://gateway@/none?host=/nowhere']) {
    await withPools(
      async ({ hot, kysely }) => {
        const begun = performance.now()
        await expect(hot.run(statement('select 1'), [])).rejects.toThrow()
        await expect(kysely.selectFrom('price').selectAll().execute()).rejects.toThrow()
        expect(performance.now() - begun).toBeLessThan(2000)
      },
      {},
      connectionString,
    )
  }
})

test('a database that stops answering is an error in bounded time, and its connections are dropped', async () => {
  const proxy = await cuttingProxy(database.connectionString)
  try {
    await withPools(
      async ({ hot, kysely }) => {
        await hot.run(statement('select 1'), [])
        await sql`select 1`.execute(kysely)
        proxy.freeze()
        await expect(hot.run(statement('select 1'), [])).rejects.toHaveProperty('backend')
        await expect(sql`select 1`.execute(kysely)).rejects.toThrow()
        await expect(hot.run(statement('select 1'), [])).rejects.toThrow('timeout')
      },
      { statementSeconds: 0.2, longStatementSeconds: 0.2, connectionSeconds: 0.5 },
      proxy.connectionString,
    )
  } finally {
    await proxy.close()
  }
})

test('a waiting caller gets an error soon when the database stops answering, then at once, and is served when it is back', async () => {
  const proxy = await cuttingProxy(database.connectionString)
  try {
    await withPools(
      async ({ hot, ordinary, kysely }) => {
        await Promise.all([hot, ordinary].map((pool) => pool.run(statement('select 1'), [])))
        proxy.freeze()
        const begun = performance.now()
        const patient = hot.run(statement('select 1'), [])
        patient.catch(() => undefined)
        const refusals = [hot, ordinary].map((pool) =>
          expect(pool.failFast.run(statement('select 1'), [])).rejects.toThrow(),
        )
        await Promise.all(refusals)
        expect(performance.now() - begun).toBeLessThan(4000) // about 1200 ms on an idle machine

        const refusedAt = performance.now()
        for (const pool of [hot, ordinary]) {
          await expect(pool.failFast.run(statement('select 1'), [])).rejects.toHaveProperty('unreachable')
          await expect(pool.failFast.transaction(() => Promise.resolve())).rejects.toHaveProperty('unreachable')
        }
        await expect(sql`select 1`.execute(kysely)).rejects.toHaveProperty('unreachable')
        // These five calls run one after the other. If they did not fail at once, each would take as long as all calls
        // above.
        expect(performance.now() - refusedAt).toBeLessThan(2000)

        proxy.thaw()
        const served = () => hot.failFast.run(statement<{ n: number }>('select 1 n'), []).catch(() => [])
        await until(async () => (await served()).length === 1)
        // The connection of the patient caller lost its answer. The caller gets an error soon after the database
        // answers again, before its own time limit.
        await expect(patient).rejects.toHaveProperty('backend')
        expect(performance.now() - begun).toBeLessThan(9000)
      },
      {},
      proxy.connectionString,
    )
  } finally {
    await proxy.close()
  }
})

test('a slow statement fails no caller while the database answers the probe', async () => {
  await withPools(async ({ hot, ordinary }) => {
    const slow = statement<{ n: number }>('select 1 n from pg_sleep(3)')
    const both = await Promise.all([hot.failFast.run(slow, []), ordinary.failFast.run(slow, [])])
    expect(both).toEqual([[{ n: 1 }], [{ n: 1 }]])
  })
})

test('a process that was itself blocked does not count that time as silence of the database', async () => {
  await withPools(async ({ hot }) => {
    // Opens a connection first, because a new connection would not be ready in time.
    await hot.run(statement('select 1'), [])
    const slow = hot.failFast.run(statement<{ n: number }>('select 1 n from pg_sleep(0.5)'), [])
    await new Promise((resolve) => setTimeout(resolve, 150))
    const end = performance.now() + 2500
    while (performance.now() < end);
    expect(await slow).toEqual([{ n: 1 }])
  })
})

test('a statement that runs or waits for a lock too long is cancelled by the server without any effect', async () => {
  const settings = { statementSeconds: 1, lockSeconds: 0.1 }
  await withPools(async ({ hot, ordinary }) => {
    await expect(hot.run(statement('select pg_sleep(5)'), [])).rejects.toThrow('statement timeout')
    await ordinary.transaction(async (connection) => {
      await connection.run(statement(`update price set price = 11`), [])
      await expect(hot.run(statement(`update price set price = 12`), [])).rejects.toThrow('lock timeout')
    })
    expect(await hot.run(statement('select price from price'), [])).toEqual([{ price: 11 }])
  }, settings)
})

test('idle connections that the server ends are replaced without an error', async () => {
  await withPools(async ({ hot, kysely }) => {
    const pid = statement<{ pid: number }>('select pg_backend_pid() pid')
    const [first] = await hot.run(pid, [])
    await sql`select pg_terminate_backend(${first?.pid}::int)`.execute(kysely)
    const other = await until(async () => {
      const [row] = await hot.run(pid, []).catch(() => [])
      return row?.pid !== first?.pid && row
    })
    expect(other.pid).not.toBe(first?.pid)
  })
})

test('a connection that ends within a transaction is a lost answer with its server process', async () => {
  await withPools(async ({ hot, kysely }) => {
    let pid = 0
    const lost = hot.transaction(async (connection) => {
      const [row] = await connection.run(statement<{ pid: number }>('select pg_backend_pid() pid'), [])
      pid = row?.pid ?? 0
      await sql`select pg_terminate_backend(${pid}::int)`.execute(kysely)
      await connection.run(statement('select pg_sleep(1)'), [])
    })
    const error: unknown = await lost.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(isLostAnswer(error) && error.backend.pid).toBe(pid)
    expect(await hot.run(statement('select 1 n'), [])).toEqual([{ n: 1 }])
  })
})

test('two transactions that deadlock are both done in the end', async () => {
  await withPools(async ({ hot }) => {
    await hot.run(statement(`insert into price values ('1', 0), ('2', 0)`), [])
    const add = (prefix: string) => statement(`update price set price = price + 1 where prefix = '${prefix}'`)
    let runs = 0
    const cross = (first: string, second: string, ready: () => void, other: Promise<void>) =>
      hot.transaction(async (connection) => {
        runs++
        await connection.run(add(first), [])
        ready()
        await other
        await connection.run(add(second), [])
      })
    let oneReady: () => void = () => undefined
    let twoReady: () => void = () => undefined
    const one = new Promise<void>((resolve) => (oneReady = resolve))
    const two = new Promise<void>((resolve) => (twoReady = resolve))
    await Promise.all([cross('1', '2', oneReady, two), cross('2', '1', twoReady, one)])
    // The cancelled transaction may deadlock with the other one again.
    expect(runs).toBeGreaterThanOrEqual(3)
    expect(await hot.run(statement(`select price from price where prefix <> ''`), [])).toEqual([
      { price: 2 },
      { price: 2 },
    ])
  })
})

test('closing ends running statements in bounded time and leaves no connection', async () => {
  const pools = openPools(serverAddress(database.connectionString), defaultSettings, silent)
  const working = pools.hot.run(statement(`select pg_sleep(60), 'to be broken off'`), [])
  working.catch(() => undefined)
  const client = new Client({ connectionString: database.connectionString })
  await client.connect()
  const count = async () => {
    const found = await client.query(
      `select from pg_stat_activity where query like '%to be broken%' and pid <> pg_backend_pid()`,
    )
    return found.rowCount
  }
  await until(async () => (await count()) === 1)
  const begun = performance.now()
  await pools.close(0.1)
  expect(performance.now() - begun).toBeLessThan(2000)
  await expect(working).rejects.toThrow()
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where query like '%to be broken%' and pid <> pg_backend_pid()`,
  )
  await client.end()
})
