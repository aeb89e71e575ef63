import type { PreparedStatement } from './prepared-statement.ts'

/**
 * From its commit on a process is told of due work, for $2 seconds; its row of before, $1 (null: none), goes. Returns the new row, and
 * milliseconds until the next waiting message becomes due, null: none waits. Rows of those that ended without a word go, too.
 */
export const fallIdle: PreparedStatement<{ id: string; due_in: number | null }> = {
  name: 'fall-idle',
  text: `
with gone as (
  delete from idle_dispatcher where id = $1::bigint or until < now()
), come as (
  insert into idle_dispatcher (until) values (now() + make_interval(secs => $2::float8)) returning id
)
select id, (select extract(epoch from min(at) - now()) * 1000 from later)::float8 as due_in from come`,
}

/** The process of row $1 need not be told any more. May be run again. */
export const leaveIdle: PreparedStatement<object> = {
  name: 'leave-idle',
  text: 'delete from idle_dispatcher where id = $1::bigint',
}

/** Its channel belongs to one table, so that gateways in several schemas of a database do not wake each other. */
const channel = `'gateway_due_' || 'idle_dispatcher'::regclass::oid`

/** Tells what channel to listen on. */
export const channelOfIdle = `select ${channel} as channel`

/**
 * An expression for a statement that makes work due or schedules some: tells those that sleep, when it commits. Evaluated at most once, and
 * only if a row is returned. Where nobody sleeps it reads an empty table.
 */
export const wakeIdle = `(select pg_notify(${channel}, '') from idle_dispatcher where until > now() limit 1)`
