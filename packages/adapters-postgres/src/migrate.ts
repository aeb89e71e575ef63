import type { Client } from 'pg'
import { createClient } from './client.ts'
import { isDeadlock, sqlState } from './errors.ts'
import { findFunctions, functions, type Functions } from './functions.ts'
import { digestOf, migrations, type Migration } from './migrations.ts'
import type { Pools } from './pools.ts'
import { serverAddress } from './server-address.ts'
import { silent, type Log } from './settings.ts'
import { sql, statement } from './sql/statement.ts'

export interface AppliedMigration {
  readonly version: number
  readonly name: string
}

interface StoredMigration extends AppliedMigration {
  /** SHA-256 of the text that was run, in hexadecimal. */
  readonly digest: string
}

const lockTimeoutMilliseconds = 500
const attemptsMax = 240

const tableMissing = '42P01'
const columnMissing = '42703'
const lockTaken = '55P03'
/** SQLSTATEs with which even `if not exists` may fail when two processes create the same table. */
const madeByAnother = new Set(['23505', '42P07', '42710'])

/** Migrations and functions that make up a database of the gateway. */
export interface Schema {
  readonly migrations: readonly Migration[]
  readonly functions?: Functions
}

const current: Schema = { migrations, functions }

/**
 * Upgrades the schema of `connectionString` to this version, and returns the applied migrations in order. A new schema
 * is created in one transaction, so that an older process never finds a part of it. Otherwise each migration is one
 * transaction, and then the functions are replaced in one transaction if they differ. If several processes migrate at
 * once, each step is done once. Newer migrations and functions stay as they are, because old and new versions run side
 * by side.
 *
 * A transaction that would wait for traffic is rolled back after half a second and tried again, for some minutes.
 * Rejects when `signal` is aborted, and if a migration of the same number with another name or text was applied;
 * uncommitted steps are rolled back.
 */
export async function migrate(
  connectionString: string,
  log: Log = silent,
  schema: Schema = current,
  signal?: AbortSignal,
): Promise<readonly AppliedMigration[]> {
  signal?.throwIfAborted()
  const client = createClient(serverAddress(connectionString), {
    application_name: 'gateway migrate',
    connectionTimeoutMillis: 2000,
  })
  client.on('error', () => undefined) // the query that fails reports the error
  const breakOff = (): void => void client.end().catch(() => undefined)
  signal?.addEventListener('abort', breakOff, { once: true })
  try {
    await client.connect()
    const applied = [...(await insist(log, () => createSchema(client, schema)))]
    for (const migration of applied) logApplied(log, migration)
    const known = await versions(client)
    for (const migration of schema.migrations) assertSame(migration, known.get(migration.version))
    for (const migration of schema.migrations.filter(({ version }) => !known.has(version))) {
      if (!(await insist(log, () => apply(client, migration)))) continue
      logApplied(log, migration)
      applied.push(migration)
    }
    const { functions } = schema
    if (functions !== undefined && (await insist(log, () => replaceFunctions(client, functions))))
      log.info(`functions of the schema replaced by version ${functions.version}`)
    return applied.map(({ version, name }) => ({ version, name }))
  } finally {
    signal?.removeEventListener('abort', breakOff)
    await client.end()
  }
}

const logApplied = (log: Log, { version, name }: Migration): void => log.info(`migration ${version} ${name} applied`)

const findSchema = statement(
  'find-schema',
  { parameters: {}, columns: { made: 'bool' } },
  sql`select to_regclass('schema_migration') is not null as made`,
)

/** Returns true if a migration of the database was ever begun. */
export async function hasSchema({ ordinary }: Pick<Pools, 'ordinary'>): Promise<boolean> {
  const [row] = await ordinary.run(findSchema, {})
  return row?.made === true
}

/** Throws if a different migration was applied under the number of this one. */
function assertSame(migration: Migration, stored: StoredMigration | undefined): void {
  if (stored === undefined) return
  const { version, name } = migration
  if (stored.name !== name)
    throw new Error(
      `the schema was made before the first release: its migration ${version} is not ${name}. Use an empty database.`,
    )
  if (stored.digest !== digestOf(migration))
    throw new Error(
      `the schema belongs to another version: its migration ${version} ${name} was made from another text. ${remedy}`,
    )
}

const remedy =
  'Run the version of the gateway that made it, or use an empty database (DATABASE_URL, or another DATA_DIR).'

async function versions(client: Client): Promise<ReadonlyMap<number, StoredMigration>> {
  const read = async () =>
    (await client.query<StoredMigration>('select version, name, digest from schema_migration')).rows
  const rows = await read().catch(async (error: unknown) => {
    if (sqlState(error) === columnMissing) throw new Error(`the schema belongs to an earlier version. ${remedy}`)
    if (sqlState(error) !== tableMissing) throw error
    await createTable(client)
    return read()
  })
  return new Map(rows.map((row) => [row.version, row]))
}

async function createTable(client: Client): Promise<void> {
  const made = client.query(`create table if not exists schema_migration (
    version int primary key, name text not null, digest text not null, at timestamptz not null default now())`)
  await made.catch((error: unknown) => {
    if (!madeByAnother.has(sqlState(error) ?? '')) throw error
  })
}

/**
 * Creates the schema of this version in the present transaction, in a database without a schema. A process that
 * migrates at the same time waits for the end of the transaction.
 */
export async function createSchemaWithin(client: Client): Promise<void> {
  await createTable(client)
  await runAll(client, current)
}

/**
 * Creates the whole schema in an empty database and returns its migrations, or returns none if the database has a
 * schema. Functions come first, because triggers refer to them; their bodies refer to tables that do not exist yet, so
 * bodies are not checked.
 */
async function createSchema(client: Client, schema: Schema): Promise<readonly Migration[]> {
  if ((await versions(client)).size > 0) return []
  return withLock(client, async () => {
    if ((await versions(client)).size > 0) return []
    await runAll(client, schema)
    return schema.migrations
  })
}

async function runAll(client: Client, { migrations, functions }: Schema): Promise<void> {
  await client.query('set local check_function_bodies = off')
  if (functions) await client.query(functions.sql)
  for (const migration of migrations) await run(client, migration)
  if (functions) await client.query(functions.firstRun)
}

/** Applies a migration. Returns false if it has been applied already. */
const apply = (client: Client, migration: Migration): Promise<boolean> =>
  withLock(client, async () => {
    const stored = (await versions(client)).get(migration.version)
    assertSame(migration, stored)
    if (stored === undefined) await run(client, migration)
    return stored === undefined
  })

async function run(client: Client, migration: Migration): Promise<void> {
  await client.query(migration.sql)
  await client.query('insert into schema_migration (version, name, digest) values ($1, $2, $3)', [
    migration.version,
    migration.name,
    digestOf(migration),
  ])
}

/**
 * Replaces the functions of the schema. Returns false if they are the same or newer. They are replaced, not dropped,
 * because triggers depend on them and running processes call them. PostgreSQL refuses to replace a function by one with
 * another result.
 */
async function replaceFunctions(client: Client, functions: Functions): Promise<boolean> {
  if (await isCurrent(client, functions)) return false
  return withLock(client, async () => {
    if (await isCurrent(client, functions)) return false
    await client.query(functions.sql)
    return true
  })
}

/** Returns true if the functions of the schema are these, or newer. */
async function isCurrent(client: Client, { version, digest }: Functions): Promise<boolean> {
  const { rows } = await client.query<{ version: number | null; digest: string | null }>(findFunctions)
  const [found] = rows
  return (found?.version ?? 0) > version || found?.digest === digest
}

/** Runs `work` in a transaction that holds the lock of this schema's migrations. */
async function withLock<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    // The lock belongs to this schema: its key is the number of this schema's table.
    await client.query(`select pg_advisory_xact_lock('schema_migration'::regclass::oid::bigint)`)
    await client.query('set local idle_in_transaction_session_timeout = 60000')
    await client.query(`set local lock_timeout = ${lockTimeoutMilliseconds}`)
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

async function insist<T>(log: Log, attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      const passing = isDeadlock(error) || sqlState(error) === lockTaken
      if (!passing || attempts === attemptsMax) throw error
      if (attempts === 1) log.info('migration waits for locks of other transactions')
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 400))
    }
  }
}
