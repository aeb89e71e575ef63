import type { Client } from 'pg'
import { createClient } from '../client.ts'
import { serverAddress } from '../server-address.ts'
import { checkLedger } from '../sql/credits.ts'
import type { BackupHead } from './backup-format.ts'

/*
 * Queries for backups, restores and copies of a whole database.
 */

export const connectionOf = (url: string, name: string): Client =>
  createClient(serverAddress(url), {
    application_name: name,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  })

/** Settings with which a server writes values as texts that every server reads back unchanged. */
export const plainText = `
  set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres'; set timezone = 'UTC'; set extra_float_digits = 1;
  set statement_timeout = 0; set lock_timeout = '5s'; set idle_in_transaction_session_timeout = 0`

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

/** Returns the quoted names of the columns of a table, in order, as SQL lists them. */
export async function namesOf(client: Client, table: string): Promise<string> {
  const { rows } = await client.query<{ names: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) names from pg_attribute
     where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [table],
  )
  return rows[0]?.names ?? ''
}

export async function countOf(client: Client, table: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`select count(*)::text as count from ${table}`)
  return Number(rows[0]?.count)
}

/** Returns true if the database has a schema of the gateway, of any version. */
export async function hasSchema(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ made: boolean }>(`select to_regclass('schema_migration') is not null as made`)
  return rows[0]?.made === true
}

export const migrationsOf = async (client: Client): Promise<BackupHead['migrations']> =>
  (
    await client.query<BackupHead['migrations'][number]>(
      'select version, digest from schema_migration order by version',
    )
  ).rows

/** Returns the result of the check of the ledger, as JSON. */
export const ledgerOf = async (client: Client): Promise<string> =>
  JSON.stringify((await client.query(checkLedger.text)).rows)

/** Returns the number of the partition that a table of sends belongs to, or undefined for any other table. */
export const partitionOf = (table: string): string | undefined => /^send_p([0-9]+)$/.exec(table)?.[1]
