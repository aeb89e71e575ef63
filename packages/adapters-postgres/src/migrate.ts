import type { Client } from 'pg'
import { createClient } from './client.ts'
import { isDeadlock, sqlState } from './errors.ts'
import { migrations as all } from './migrations/migrations.ts'
import type { Migration } from './migrations/migration.ts'
import { serverAddress } from './server-address.ts'
import { silent, type Log } from './settings.ts'

export interface AppliedMigration {
  readonly version: number
  readonly name: string
}

const lockTimeoutMilliseconds = 500
const attemptsMax = 240

const tableMissing = '42P01'
const lockTaken = '55P03'
/** Even `if not exists` may fail so when two processes create the same table. */
const madeByAnother = new Set(['23505', '42P07', '42710'])

/**
 * Brings the schema of `connectionString` up to what this code knows, and returns what that took, in order. Each migration
 * is one transaction; several processes at once apply each of them once. A schema that is newer than this code is left
 * as it is: old and new versions run side by side. A migration that would have to wait for traffic steps back after half
 * a second and tries again, for some minutes. Rejects once `signal` is aborted, with what had not been committed undone, and
 * where a migration of the same number but of another name was applied: such a schema is older than the first release.
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
    const other = migrations.find(({ version, name }) => (known.get(version) ?? name) !== name)
    if (other !== undefined) {
      throw new Error(
        `the schema was made before the first release: its migration ${other.version} is not ${other.name}. Name an empty database.`,
      )
    }
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

/** Names by version. */
async function versions(client: Client): Promise<ReadonlyMap<number, string>> {
  const read = async () => (await client.query<AppliedMigration>('select version, name from schema_migration')).rows
  const rows = await read().catch(async (error: unknown) => {
    if (sqlState(error) !== tableMissing) throw error
    await createTable(client)
    return read()
  })
  return new Map(rows.map(({ version, name }) => [version, name]))
}

async function createTable(client: Client): Promise<void> {
  const made = client.query(`create table if not exists schema_migration (
    version int primary key, name text not null, at timestamptz not null default now())`)
  await made.catch((error: unknown) => {
    if (!madeByAnother.has(sqlState(error) ?? '')) throw error
  })
}

/** False: it is there already. */
async function apply(client: Client, { version, name, sql }: Migration): Promise<boolean> {
  await client.query('begin')
  try {
    // The lock belongs to this schema: its key is the number of this schema's table.
    await client.query(`select pg_advisory_xact_lock('schema_migration'::regclass::oid::bigint)`)
    const { rowCount } = await client.query('select from schema_migration where version = $1', [version])
    if (rowCount !== 0) {
      await client.query('rollback')
      return false
    }
    await client.query('set local idle_in_transaction_session_timeout = 60000')
    await client.query(`set local lock_timeout = ${lockTimeoutMilliseconds}`)
    await client.query(sql)
    await client.query('insert into schema_migration (version, name) values ($1, $2)', [version, name])
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
