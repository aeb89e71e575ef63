import { sql, statement } from './statement.ts'

/**
 * Subscribes a process to notifications of due work for `seconds`, from the commit on, and deletes its previous row
 * `row` (null if it has none). Returns the new row, and the milliseconds until the next waiting message becomes due,
 * null if none waits. Also deletes expired rows, which belong to processes that ended without unsubscribing.
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

/** Ends the subscription of a process. May be run again. */
export const leaveIdle = statement(
  'leave-idle',
  { parameters: { row: 'bigint' } },
  sql`delete from idle_dispatcher where id = :row`,
)

/**
 * Channel of notifications. Its name has the table's oid, so that gateways in schemas of one database do not share it.
 */
const channel = `'gateway_due_' || 'idle_dispatcher'::regclass::oid`

/** Query for the name of the channel to listen on. */
export const channelOfIdle = `select ${channel} as channel`

/**
 * Expression that notifies idle dispatchers when the statement commits, for statements that make messages due or
 * schedule them. Evaluated at most once, and only if the statement returns a row. If no dispatcher is idle, it reads an
 * empty table.
 */
export const wakeIdle = `(select pg_notify(${channel}, '') from idle_dispatcher where until > now() limit 1)`
