import { Client } from 'pg'
import { blankDatabase, type FreshDatabase } from '../testing/fresh-database.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations.ts'
import { silent } from './settings.ts'

let database: FreshDatabase
beforeEach(async () => {
  database = await blankDatabase()
})
afterEach(() => database.drop())

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: database.connectionString })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

const run = (...steps: readonly [version: number, sql: string][]) =>
  migrate(
    database.connectionString,
    silent,
    steps.map(([version, sql]) => ({ version, name: `step-${version}`, sql })),
  )

test('processes that start at the same time apply each migration once', async () => {
  const applied = await Promise.all(Array.from({ length: 6 }, () => migrate(database.connectionString)))
  expect(
    applied
      .flat()
      .map(({ version }) => version)
      .toSorted((a, b) => a - b),
  ).toEqual(migrations.map(({ version }) => version))
  expect(await query('select prefix, price from price')).toEqual([{ prefix: '', price: 10 }])
})

test('a migrated schema takes nothing more, also after a newer version of the gateway was there', async () => {
  await migrate(database.connectionString)
  await query(`insert into schema_migration (version, name, digest) values (9999, 'from-the-future', 'unknown')`)
  expect(await migrate(database.connectionString)).toEqual([])
})

test('a schema of before the first release is refused and not touched', async () => {
  await run([1, 'create table a (x int)'])
  await expect(migrate(database.connectionString)).rejects.toThrow('made before the first release')
  expect(await query('select version, name from schema_migration')).toEqual([{ version: 1, name: 'step-1' }])
})

test('a schema that was made from another text of a migration is refused and not touched, in one sentence that says what to do', async () => {
  await run([1, 'create table a (x int)'])
  const refused =
    /migration 1 step-1 .*another text.*Run the version of the gateway that made it, or name an empty database/
  await expect(run([1, 'create table a (x int, y int)'], [2, 'create table b (x int)'])).rejects.toThrow(refused)
  expect(await query(`select to_regclass('b') as b`)).toEqual([{ b: null }])
  expect(await run([1, 'create table a (x int)'])).toEqual([])
})

test('a schema of a checkout that kept no texts of migrations is refused in the same way', async () => {
  await query('create table schema_migration (version int primary key, name text not null)')
  await query(`insert into schema_migration values (1, 'baseline')`)
  await expect(migrate(database.connectionString)).rejects.toThrow(/earlier.* or name an empty database/)
})

test('of two versions with other texts that start at the same time on an empty database one is refused', async () => {
  const both = await Promise.allSettled([
    run([1, 'create table a (x int); select pg_sleep(0.2)']),
    run([1, 'create table b (x int); select pg_sleep(0.2)']),
  ])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(await query('select version from schema_migration')).toEqual([{ version: 1 }])
})

test('a migration that comes after the baseline is applied to a schema that has it, beside rows that are there', async () => {
  await migrate(database.connectionString)
  await query('insert into account (balance) values (7)')
  const next = { version: 2, name: 'made-up', sql: 'alter table account add made_up int not null default 3' }
  expect(await migrate(database.connectionString, silent, [...migrations, next])).toEqual([
    { version: 2, name: 'made-up' },
  ])
  expect(await query('select balance, made_up from account')).toEqual([{ balance: '7', made_up: 3 }])
  expect(await migrate(database.connectionString)).toEqual([])
})

test('two schemas of one database are migrated apart from each other', async () => {
  const other = await blankDatabase()
  try {
    const [one, two] = await Promise.all([migrate(database.connectionString), migrate(other.connectionString)])
    expect(one).toEqual(two)
    expect(one).toHaveLength(migrations.length)
  } finally {
    await other.drop()
  }
})

test('a migration that fails leaves nothing of itself, and those before it stay', async () => {
  const failing = run([1, 'create table a (x int)'], [2, 'create table b (x int); select 1/0'])
  await expect(failing).rejects.toThrow('division by zero')
  expect(await query('select version from schema_migration')).toEqual([{ version: 1 }])
  expect(await query(`select to_regclass('a') is not null a, to_regclass('b') is not null b`)).toEqual([
    { a: true, b: false },
  ])
  expect(await run([1, 'create table a (x int)'], [2, 'create table b (x int)'])).toEqual([
    { version: 2, name: 'step-2' },
  ])
})

test('a migration that waits for traffic lets the traffic behind it pass, and is done when it can be', async () => {
  await run([1, 'create table busy (x int)'])
  const reader = new Client({ connectionString: database.connectionString })
  await reader.connect()
  await reader.query('begin')
  await reader.query('select * from busy')
  const migrated = run([1, 'create table busy (x int)'], [2, 'alter table busy add y int'])
  // Behind a waiting "alter table" this would wait as long as the reader reads.
  for (let i = 0; i < 5; i++) await query('select x from busy')
  await reader.query('commit')
  await reader.end()
  expect(await migrated).toEqual([{ version: 2, name: 'step-2' }])
})
