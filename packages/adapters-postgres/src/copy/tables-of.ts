import type { Client } from 'pg'

/** All tables that hold rows, partitions among them, but what says which migrations were applied. Those first that others refer to. */
export async function tablesOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(`
    select c.oid::regclass::text as name from pg_class c
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname <> 'schema_migration'
    order by relname <> 'account', relname`)
  return rows.map(({ name }) => name)
}

export async function sequencesOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'S' order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** Names and types of its columns, in their order. */
export async function columnsOf(client: Client, table: string): Promise<string | null> {
  const { rows } = await client.query<{ columns: string | null }>(
    `select string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' order by attnum) as columns
     from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [table],
  )
  return rows[0]?.columns ?? null
}

export async function countOf(client: Client, table: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`select count(*)::text as count from ${table}`)
  return Number(rows[0]?.count)
}
