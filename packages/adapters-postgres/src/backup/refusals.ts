import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { countOf, hasSchema, sequencesOf, tablesOf } from './whole-database.ts'

/** Error that prevents a copy or restore from beginning. Its message is for the operator. */
export class CopyRefused extends Error {}

/** Tables that have rows in a new schema. */
const seeded = new Set(['price', 'carrier', 'queue', 'id_share', 'login_secret', 'audit_head'])

/** Throws unless the database is empty or has an unused schema. */
export async function refuseFilled(target: Client): Promise<void> {
  const tables = await tablesOf(target)
  if (tables.length + (await sequencesOf(target)).length === 0) return
  if (!(await hasSchema(target)))
    throw new CopyRefused('The target has tables of another application. Name an empty database.')
  for (const table of tables) {
    if (!seeded.has(table) && (await countOf(target, table)) > 0) {
      throw new CopyRefused(`The target is not empty: it has rows in ${table}. Name an empty database.`)
    }
  }
}

/** Throws if both connections are to the same database. */
export async function refuseSame(source: Client, target: Client): Promise<void> {
  if ((await identityOf(source)) === (await identityOf(target))) {
    throw new CopyRefused('The target is the same database as the source.')
  }
}

async function identityOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ identity: string }>(
    `select concat_ws(' ', pg_postmaster_start_time(), current_database(), current_schema()) as identity`,
  )
  return rows[0]?.identity ?? ''
}

const patienceMilliseconds = 3000

/** Throws if a dispatcher has a lease, or if `refuseConnected` does. */
export async function refuseBusy(client: Client): Promise<void> {
  const { rows: leases } = await client.query<{ count: number }>(
    'select count(*)::int from dispatcher where lease_until > now()',
  )
  const count = leases[0]?.count ?? 0
  if (count > 0) {
    throw new CopyRefused(
      `${count === 1 ? 'A dispatcher has' : `${count} dispatchers have`} a lease. Stop every process of the gateway; ` +
        'a killed process counts as stopped after LEASE_SECONDS.',
    )
  }
  await refuseConnected(client)
}

/** Throws if another process of the gateway is still connected after some seconds. Call it outside a transaction. */
export async function refuseConnected(client: Client): Promise<void> {
  const end = performance.now() + patienceMilliseconds
  for (;;) {
    const { rows } = await client.query<{ names: string | null }>(`
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
