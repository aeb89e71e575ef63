import { Client } from 'pg'
import { blankDatabase, type FreshDatabase } from '../testing/fresh-database.ts'
import { findFunctions, functions, functionsOf } from './functions.ts'
import { migrate, type Schema } from './migrate.ts'
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
  migrate(database.connectionString, silent, {
    migrations: steps.map(([version, sql]) => ({ version, name: `step-${version}`, sql })),
  })

/** Migrates to the schema of this version with other functions, and returns the lines that were logged. */
async function migrateTo(schema: Partial<Schema> = {}): Promise<readonly string[]> {
  const lines: string[] = []
  const log = { ...silent, info: (line: unknown) => void lines.push(String(line)) }
  await migrate(database.connectionString, log, { migrations, functions, ...schema })
  return lines
}

/** A schema with one function that returns `answer`. */
const answering = (version: number, answer: number): Schema => ({
  migrations: [{ version: 1, name: 'step-1', sql: 'create table a (x int)' }],
  functions: functionsOf(version, [
    `create or replace function made_up() returns int language sql as 'select ${answer}';`,
  ]),
})

const made = async () => (await query(`select made_up() as answer, version from (${findFunctions}) functions`))[0]

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

test('a migrated schema gets nothing more, even after a newer version of the gateway used it', async () => {
  await migrate(database.connectionString)
  await query(`insert into schema_migration (version, name, digest) values (9999, 'from-the-future', 'unknown')`)
  expect(await migrate(database.connectionString)).toEqual([])
})

test('a schema from before the first release is refused and not changed', async () => {
  await run([1, 'create table a (x int)'])
  await expect(migrate(database.connectionString)).rejects.toThrow('made before the first release')
  expect(await query('select version, name from schema_migration')).toEqual([{ version: 1, name: 'step-1' }])
})

test('a schema made from another text of a migration is refused and not changed, with an error that says what to do', async () => {
  await run([1, 'create table a (x int)'])
  const refused =
    /migration 1 step-1 .*another text.*Run the version of the gateway that made it, or use an empty database/
  await expect(run([1, 'create table a (x int, y int)'], [2, 'create table b (x int)'])).rejects.toThrow(refused)
  expect(await query(`select to_regclass('b') as b`)).toEqual([{ b: null }])
  expect(await run([1, 'create table a (x int)'])).toEqual([])
})

test('a schema without stored digests is refused in the same way', async () => {
  await query('create table schema_migration (version int primary key, name text not null)')
  await query(`insert into schema_migration values (1, 'baseline')`)
  await expect(migrate(database.connectionString)).rejects.toThrow(/earlier.* or use an empty database/)
})

test('of two versions with different texts that start at once on an empty database one is refused', async () => {
  const both = await Promise.allSettled([
    run([1, 'create table a (x int); select pg_sleep(0.2)']),
    run([1, 'create table b (x int); select pg_sleep(0.2)']),
  ])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(await query('select version from schema_migration')).toEqual([{ version: 1 }])
})

test('a migration after the baseline is applied to an existing schema with rows', async () => {
  await migrate(database.connectionString)
  await query('insert into account (balance) values (7)')
  const next = { version: 9001, name: 'made-up', sql: 'alter table account add made_up int not null default 3' }
  expect(await migrate(database.connectionString, silent, { migrations: [...migrations, next], functions })).toEqual([
    { version: 9001, name: 'made-up' },
  ])
  expect(await query('select balance, made_up from account')).toEqual([{ balance: '7', made_up: 3 }])
  expect(await migrate(database.connectionString)).toEqual([])
})

test('two schemas of one database are migrated independently', async () => {
  const other = await blankDatabase()
  try {
    const [one, two] = await Promise.all([migrate(database.connectionString), migrate(other.connectionString)])
    expect(one).toEqual(two)
    expect(one).toHaveLength(migrations.length)
  } finally {
    await other.drop()
  }
})

test('a failed migration leaves nothing, and earlier ones stay', async () => {
  await run([1, 'create table a (x int)'])
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

test('a migration that waits for traffic does not block later traffic, and is applied when possible', async () => {
  await run([1, 'create table busy (x int)'])
  const reader = new Client({ connectionString: database.connectionString })
  await reader.connect()
  await reader.query('begin')
  await reader.query('select * from busy')
  const migrated = run([1, 'create table busy (x int)'], [2, 'alter table busy add y int'])
  // These queries would wait for the reader if they queued behind a waiting "alter table".
  for (let i = 0; i < 5; i++) await query('select x from busy')
  await reader.query('commit')
  await reader.end()
  expect(await migrated).toEqual([{ version: 2, name: 'step-2' }])
})

test('a new schema is created as a whole or not at all', async () => {
  await expect(run([1, 'create table a (x int)'], [2, 'select 1/0'])).rejects.toThrow('division by zero')
  const broken = functionsOf(1, ['create function made_up() returns no_such_type language sql return 1;'])
  await expect(migrateTo({ functions: broken })).rejects.toThrow('no_such_type')
  const unusable = { ...functions, firstRun: 'select add_partition(null::text)' }
  await expect(migrateTo({ functions: unusable })).rejects.toThrow('does not exist')
  expect(await query('select version from schema_migration')).toEqual([])
  expect(await query(`select to_regclass('a') a, to_regclass('account') account`)).toEqual([{ a: null, account: null }])
  expect(await query(`select to_regprocedure('lease_block()') f`)).toEqual([{ f: null }])
})

test('a schema of 0.2.0, which stored no version of its functions, gets the functions of this version', async () => {
  await migrate(database.connectionString)
  await query(`comment on table schema_migration is null;
    create or replace function lease_shared(p_count int, out lo bigint, out hi bigint) language sql as 'select 0, 0'`)
  expect(await migrateTo()).toEqual([`functions of the schema replaced by version ${functions.version}`])
  expect(await query('select lo, hi from lease_shared(3)')).toEqual([{ lo: '1', hi: '4' }])
  expect(await query(findFunctions)).toEqual([{ version: functions.version, digest: functions.digest }])
  expect(await migrateTo()).toEqual([])
})

test('processes that start at the same time replace the functions once', async () => {
  await migrateTo(answering(1, 10))
  const lines = await Promise.all(Array.from({ length: 6 }, () => migrateTo(answering(2, 20))))
  expect(lines.flat()).toEqual(['functions of the schema replaced by version 2'])
  expect(await made()).toEqual({ answer: 20, version: 2 })
})

test('functions with another text of the same version are replaced, as during development', async () => {
  await migrateTo(answering(1, 10))
  expect(await migrateTo(answering(1, 11))).toHaveLength(1)
  expect(await made()).toEqual({ answer: 11, version: 1 })
})

test('an older process leaves newer functions as they are', async () => {
  await migrateTo(answering(2, 20))
  expect(await migrateTo(answering(1, 10))).toEqual([])
  expect(await made()).toEqual({ answer: 20, version: 2 })
})

test('of an older and a newer process that start at once the newer one installs its functions', async () => {
  await Promise.all([1, 2, 1, 2, 1].map((version) => migrateTo(answering(version, version * 10))))
  expect(await made()).toEqual({ answer: 20, version: 2 })
})

test('a function with another result is refused: it needs a new name', async () => {
  await migrateTo(answering(1, 10))
  const other = functionsOf(2, [`create or replace function made_up() returns text language sql as $$ select 'x' $$;`])
  await expect(migrateTo({ ...answering(1, 10), functions: other })).rejects.toThrow('cannot change return type')
  expect(await made()).toEqual({ answer: 10, version: 1 })
})

test('statements and triggers that use functions continue while these are replaced', async () => {
  await migrate(database.connectionString)
  let isOver = false
  const use = async (): Promise<number> => {
    const client = new Client({ connectionString: database.connectionString })
    await client.connect()
    let count = 0
    for (; !isOver || count === 0; count++) {
      await client.query('select lo from lease_shared(1)')
      await client.query(`with id as (select lo from lease_shared(1)) insert into message
        (id, send_first_id, msisdn, account_id, code) select lo, lo, 27820000101, 1, 100 from id`)
    }
    await client.end()
    return count
  }
  const counting = Promise.all([use(), use()])
  try {
    for (let version = 2; version < 22; version++)
      await migrateTo({ functions: functionsOf(version, [functions.sql, `-- version ${version}\n`]) })
  } finally {
    isOver = true
  }
  const [one, two] = await counting
  expect(await query('select sum(change)::int as counted from outcome_change')).toEqual([{ counted: one + two }])
})
