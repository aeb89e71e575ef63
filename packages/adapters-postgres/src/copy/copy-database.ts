import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { createClient } from '../client.ts'
import { migrate } from '../migrate.ts'
import { serverAddress } from '../server-address.ts'
import { checkLedger } from '../sql/credits.ts'

/** Error of a target that cannot be connected to. Its message is for the operator. */
export class TargetUnreachable extends Error {}

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

export interface CopyOptions {
  /** URL of the source, which has the schema of this version. */
  readonly from: string
  readonly to: string
  /** Called from time to time with the number of rows of a table copied so far. */
  readonly progress: (table: string, rows: number) => void
  /** Called before each piece. Throws to abort the copy, which then leaves nothing. */
  readonly unlessEnded: () => void
}

/**
 * Copies a whole database of the gateway to an empty one, on a server of any version from 15 on: all tables with their
 * partitions, and all sequences, in one transaction on each side. The source is locked against writers during the copy.
 * Before the commit, rows are counted on both sides and balances recalculated from the ledger.
 *
 * Throws an Error for the operator if the target is not empty, the source is in use (by a dispatcher with a lease or
 * another process of the gateway), both are the same database, or their schemas differ. The target then has at most an
 * empty schema.
 */
export async function copyDatabase({ from, to, progress, unlessEnded }: CopyOptions): Promise<readonly CopiedTable[]> {
  const [source, target] = [connectionOf(from, 'database copy'), connectionOf(to, 'database copy')]
  try {
    await source.connect()
    await target.connect().catch(unreached)
    await Promise.all([source.query(plainText), target.query(plainText)])
    await refuseFilledTarget(source, target)
    await migrate(to)
    await refuseBusy(source)
    await source.query('begin isolation level repeatable read')
    await target.query('begin')
    const tables = await beginCopy(source, target)
    const copied: CopiedTable[] = []
    for (const table of tables) {
      const rows = await copyTable(source, target, table, (soFar) => {
        unlessEnded()
        progress(table, soFar)
      })
      copied.push({ table, rows })
    }
    await copySequences(source, target)
    await verify(source, target, copied)
    await target.query('commit')
    await target.query('analyze')
    return copied
  } finally {
    await Promise.all([source, target].map((client) => client.end().catch(() => undefined)))
  }
}

/** Throws an error that names the target, because the operator has given two addresses. */
function unreached(cause: unknown): never {
  throw new TargetUnreachable(
    `The target cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}. ` +
      'Check the address of --to, and whether PGPASSWORD or ~/.pgpass has the password of its user.',
    { cause },
  )
}

export const connectionOf = (url: string, name: string): Client =>
  createClient(serverAddress(url), {
    application_name: name,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  })

/** Settings with which values become texts that every server reads back unchanged. */
export const plainText = `
  set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres'; set timezone = 'UTC'; set extra_float_digits = 1;
  set statement_timeout = 0; set lock_timeout = '5s'; set idle_in_transaction_session_timeout = 0`

/** Locks the source, creates its partitions in the target and empties the target. Returns the tables to copy. */
async function beginCopy(source: Client, target: Client): Promise<readonly string[]> {
  const tables = await tablesOf(source)
  await source.query(`lock table ${tables.join(', ')} in share mode`)
  for (const table of tables) {
    const partition = /^send_p([0-9]+)$/.exec(table)?.[1]
    if (partition !== undefined) await target.query('select add_partition($1)', [partition])
  }
  for (const table of tables) {
    if ((await columnsOf(source, table)) !== (await columnsOf(target, table))) {
      throw new Error(`the table ${table} differs between the databases: upgrade both to this version`)
    }
  }
  await target.query(`truncate ${tables.join(', ')}`)
  return tables
}

async function copySequences(source: Client, target: Client): Promise<void> {
  for (const sequence of await sequencesOf(source)) {
    const { rows } = await source.query<{ last: string; called: boolean }>(
      `select last_value::text last, is_called called from ${sequence}`,
    )
    await target.query('select setval($1::regclass, $2::bigint, $3::bool)', [sequence, rows[0]?.last, rows[0]?.called])
  }
}

async function verify(source: Client, target: Client, copied: readonly CopiedTable[]): Promise<void> {
  for (const { table, rows } of copied) {
    const [there, here] = [await countOf(source, table), await countOf(target, table)]
    if (there !== rows || here !== rows) throw new Error(`of ${there} rows of ${table} ${here} arrived`)
  }
  const sums = async (client: Client) => JSON.stringify((await client.query(checkLedger.text)).rows)
  if ((await sums(source)) !== (await sums(target))) throw new Error('the ledgers of the two databases differ')
}

/** Number of rows copied at once. A row of a send may have 10,000 numbers of 12 bytes each. */
const pieceRows = 500

/**
 * Copies the rows of a table as texts and calls `progress` after each piece with the number of rows so far. Copies
 * accounts by id, so that a main account precedes its sub-accounts.
 */
async function copyTable(
  source: Client,
  target: Client,
  table: string,
  progress: (rows: number) => void,
): Promise<number> {
  const order = table === 'account' ? 'order by id' : ''
  await source.query(`declare piece no scroll cursor for select t::text as row from ${table} t ${order}`)
  let count = 0
  for (;;) {
    const { rows } = await source.query<{ row: string }>(`fetch ${pieceRows} from piece`)
    if (rows.length === 0) break
    await target.query(
      `insert into ${table} overriding system value
       select (r.row).* from (select u::${table} as row from unnest($1::text[]) u offset 0) r`,
      [rows.map(({ row }) => row)],
    )
    count += rows.length
    progress(count)
  }
  await source.query('close piece')
  return count
}

/** Error that prevents a copy from beginning. Its message is for the operator. */
export class CopyRefused extends Error {}

/** Tables that have rows in a new schema. */
const seeded = new Set(['price', 'carrier', 'queue', 'id_share', 'login_secret', 'audit_head'])

/** Throws unless the target is another database than the source, and is empty or has an unused schema. */
async function refuseFilledTarget(source: Client, target: Client): Promise<void> {
  if ((await identityOf(source)) === (await identityOf(target))) {
    throw new CopyRefused('The target is the same database as the source.')
  }
  await refuseFilled(target)
}

/** Throws unless the database is empty or has an unused schema. */
export async function refuseFilled(target: Client): Promise<void> {
  const tables = await tablesOf(target)
  if (tables.length + (await sequencesOf(target)).length === 0) return
  const { rows } = await target.query<{ ours: boolean }>(`select to_regclass('schema_migration') is not null as ours`)
  if (rows[0]?.ours !== true)
    throw new CopyRefused('The target has tables of another application. Name an empty database.')
  for (const table of tables) {
    if (!seeded.has(table) && (await countOf(target, table)) > 0) {
      throw new CopyRefused(`The target is not empty: it has rows in ${table}. Name an empty database.`)
    }
  }
}

async function identityOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ identity: string }>(
    `select concat_ws(' ', pg_postmaster_start_time(), current_database(), current_schema()) as identity`,
  )
  return rows[0]?.identity ?? ''
}

const patienceMilliseconds = 3000

/** Throws if a dispatcher has a lease, or if another process of the gateway is still connected after some seconds. */
export async function refuseBusy(source: Client): Promise<void> {
  const { rows: leases } = await source.query<{ count: number }>(
    'select count(*)::int from dispatcher where lease_until > now()',
  )
  const count = leases[0]?.count ?? 0
  if (count > 0) {
    throw new CopyRefused(
      `${count === 1 ? 'A dispatcher has' : `${count} dispatchers have`} a lease. Stop every process of the gateway; ` +
        'one that was killed counts as gone after LEASE_SECONDS.',
    )
  }
  const end = performance.now() + patienceMilliseconds
  for (;;) {
    const { rows } = await source.query<{ names: string | null }>(`
      select string_agg(distinct application_name || coalesce(' from ' || host(client_addr), ''), ', ') as names
      from pg_stat_activity
      where datname = current_database() and application_name ~ '^gateway' and pid <> pg_backend_pid()`)
    const names = rows[0]?.names ?? null
    if (names === null) return
    if (performance.now() > end) {
      throw new CopyRefused(
        `Processes of the gateway use the database (${names}). Stop every server, dispatcher and command.`,
      )
    }
    await delay(100)
  }
}

/**
 * Lists the tables and partitions that hold rows, except the list of migrations and the record of the server.
 * Referenced tables come first.
 */
export async function tablesOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(`
    select c.oid::regclass::text as name from pg_class c
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname not in ('schema_migration', 'primary_look')
    order by relname <> 'account', relname`)
  return rows.map(({ name }) => name)
}

export async function sequencesOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'S' order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** Returns names and types of the columns of a table, in order, or null if the table does not exist. */
export async function columnsOf(client: Client, table: string): Promise<string | null> {
  const { rows } = await client.query<{ columns: string | null }>(
    `select string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' order by attnum) as columns
     from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [table],
  )
  return rows[0]?.columns ?? null
}

async function countOf(client: Client, table: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`select count(*)::text as count from ${table}`)
  return Number(rows[0]?.count)
}
