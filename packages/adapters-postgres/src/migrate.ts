import type { Client } from 'pg'
import { createClient } from './client.ts'
import { isDeadlock, sqlState } from './errors.ts'
import { digestOf, migrations as all, type Migration } from './migrations.ts'
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
/** Even `if not exists` may fail so when two processes create the same table. */
const madeByAnother = new Set(['23505', '42P07', '42710'])

/**
 * Brings the schema of `connectionString` up to what this code knows, and returns what that took, in order. Each
 * migration is one transaction; several processes at once apply each once. A schema that is newer than this code is
 * left as it is: old and new versions run side by side. A migration that would have to wait for traffic steps back
 * after half a second and tries again, for some minutes. Rejects once `signal` is aborted, with what had not been
 * committed undone, and where a migration of the same number but of another name or text was applied.
 */
export async function migrate(
  connectionString: string,
  log: Log = silent,
  migrations: readonly Migration[] = all,
  signal?: AbortSignal,
): Promise<readonly AppliedMigration[]> {
  signal?.throwIfAborted()
  const client = createClient(serverAddress(connectionString), {
    application_name: 'gateway migrate',
    connectionTimeoutMillis: 2000,
  })
  client.on('error', () => undefined) // what it breaks is told by the query that fails
  const breakOff = (): void => void client.end().catch(() => undefined)
  signal?.addEventListener('abort', breakOff, { once: true })
  try {
    await client.connect()
    const known = await versions(client)
    for (const migration of migrations) assertSame(migration, known.get(migration.version))
    const missing = migrations.filter(({ version }) => !known.has(version))
    const applied: AppliedMigration[] = []
    for (const migration of missing) {
      if (!(await insist(log, () => apply(client, migration)))) continue
      log.info(`migration ${migration.version} ${migration.name} applied`)
      applied.push({ version: migration.version, name: migration.name })
    }
    return applied
  } finally {
    signal?.removeEventListener('abort', breakOff)
    await client.end()
  }
}

const findSchema = statement(
  'find-schema',
  { parameters: {}, columns: { made: 'bool' } },
  sql`select to_regclass('schema_migration') is not null as made`,
)

/** Whether a migration was ever begun there. */
export async function hasSchema({ ordinary }: Pick<Pools, 'ordinary'>): Promise<boolean> {
  const [row] = await ordinary.run(findSchema, {})
  return row?.made === true
}

/** Throws if another migration was applied under its number. */
function assertSame(migration: Migration, stored: StoredMigration | undefined): void {
  if (stored === undefined) return
  const { version, name } = migration
  if (stored.name !== name)
    throw new Error(
      `the schema was made before the first release: its migration ${version} is not ${name}. Name an empty database.`,
    )
  if (stored.digest !== digestOf(migration))
    throw new Error(
      `the schema is that of another version: its migration ${version} ${name} was made from another text. ${remedy}`,
    )
}

const remedy =
  'Run the version of the gateway that made it, or name an empty database (DATABASE_URL, or another DATA_DIR).'

async function versions(client: Client): Promise<ReadonlyMap<number, StoredMigration>> {
  const read = async () =>
    (await client.query<StoredMigration>('select version, name, digest from schema_migration')).rows
  const rows = await read().catch(async (error: unknown) => {
    if (sqlState(error) === columnMissing) throw new Error(`the schema is that of an earlier version. ${remedy}`)
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

/** False: it is there already. */
async function apply(client: Client, migration: Migration): Promise<boolean> {
  const { version, name, sql } = migration
  await client.query('begin')
  try {
    // The lock belongs to this schema: its key is the number of this schema's table.
    await client.query(`select pg_advisory_xact_lock('schema_migration'::regclass::oid::bigint)`)
    const stored = (await versions(client)).get(version)
    if (stored !== undefined) {
      assertSame(migration, stored)
      await client.query('rollback')
      return false
    }
    await client.query('set local idle_in_transaction_session_timeout = 60000')
    await client.query(`set local lock_timeout = ${lockTimeoutMilliseconds}`)
    await client.query(sql)
    await client.query('insert into schema_migration (version, name, digest) values ($1, $2, $3)', [
      version,
      name,
      digestOf(migration),
    ])
    await client.query('commit')
    return true
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
      if (attempts === 1) log.info('a migration waits for others to finish')
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 400))
    }
  }
}
