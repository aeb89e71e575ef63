import { sql, statement } from './statement.ts'

/**
 * From its commit on a process is told of due work, for `seconds`; its row of before, `row` (null: none), goes.
 * Returns the new row, and milliseconds until the next waiting message becomes due, null: none waits. Rows of
 * processes that ended without a word go, too.
 */
export const fallIdle = statement(
  'fall-idle',
  { parameters: { row: 'bigint?', seconds: 'float8' }, columns: { id: 'bigint', due_in: 'float8?' } },
  sql`
with gone as (
  delete from idle_dispatcher where id = :row or until < now()
), come as (
  insert into idle_dispatcher (until) values (now() + make_interval(secs => :seconds)) returning id
)
select id, (select extract(epoch from min(at) - now()) * 1000 from later)::float8 as due_in from come`,
)

/** The process of the row need not be told any more. May be run again. */
export const leaveIdle = statement(
  'leave-idle',
  { parameters: { row: 'bigint' } },
  sql`delete from idle_dispatcher where id = :row`,
)

/** Its channel belongs to one table, so that gateways in several schemas of a database do not wake each other. */
const channel = `'gateway_due_' || 'idle_dispatcher'::regclass::oid`

/** Tells what channel to listen on. */
export const channelOfIdle = `select ${channel} as channel`

/**
 * An expression for a statement that makes work due or schedules some: tells those that sleep, when it commits.
 * Evaluated at most once, and only if a row is returned. Where nobody sleeps it reads an empty table.
 */
export const wakeIdle = `(select pg_notify(${channel}, '') from idle_dispatcher where until > now() limit 1)`
