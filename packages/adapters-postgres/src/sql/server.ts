import { sql, statement } from './statement.ts'

/**
 * Ends the server process `pid`, started at `start`, of a lost connection. Returns a row while that process exists. The
 * caller repeats the statement until it returns no row. From then on, everything that the process committed is visible,
 * and the process does nothing more.
 */
export const endBackend = statement(
  'end-backend',
  { parameters: { pid: 'int', start: 'numeric' }, columns: { ended: 'bool' } },
  sql`select pg_terminate_backend(pid) as ended from pg_stat_activity
where pid = :pid and extract(epoch from backend_start) = :start`,
)

/**
 * Writes a log record that nobody reads, so that its commit waits for the disk and for a synchronous standby, as every
 * commit with writes does. Everything that was visible before the statement ran precedes the record in the log. So it
 * is as durable as the record once this has committed (docs/decisions/0072).
 */
export const writeNothing = statement(
  'write-nothing',
  { parameters: {} },
  sql`select from pg_logical_emit_message(true, 'gateway', '')`,
)

/**
 * Returns whether this server is read-only. If it accepts writes, also writes a log record, so that the commit waits as
 * any other does.
 */
export const probeWrite = statement(
  'probe-write',
  { parameters: {}, columns: { isReadOnly: 'bool', written: 'text?' } },
  sql`
select current_setting('transaction_read_only')::boolean as "isReadOnly",
  case when not current_setting('transaction_read_only')::boolean
    then pg_logical_emit_message(true, 'gateway', '')::text
  end as written`,
)

/** Makes the sort of `probeRoom` use a file on the volume of the tables. Applies until the transaction ends. */
export const sortOnDisk = statement(
  'sort-on-disk',
  { parameters: {} },
  sql`select from set_config('work_mem', '64kB', true) memory, set_config('temp_tablespaces', '', true) spaces`,
)

/**
 * Sorts 300 kB in a temporary file. Fails with 53100 if the disk is full. Unlike a probe that writes rows, it leaves
 * nothing behind.
 */
export const probeRoom = statement(
  'probe-room',
  { parameters: {}, columns: { sum: 'bigint' } },
  sql`
select sum(length(filler)) from (
  select repeat('x', 1000) || n as filler from generate_series(1, 300) n order by md5(n::text)
) sorted`,
)

/** Returns a row if a commit of this role waits for a standby. */
export const waitsForStandby = statement(
  'waits-for-standby',
  { parameters: {} },
  sql`select from pg_stat_activity where usename = current_user and wait_event = 'SyncRep' limit 1`,
)

/** Returns whether this server accepts writes: it is not a standby and its transactions are not read-only. */
export const whetherPrimary = statement(
  'whether-primary',
  { parameters: {}, columns: { isPrimary: 'bool' } },
  sql`select not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean as "isPrimary"`,
)

/**
 * Returns the identifier of the database cluster, which all its servers share, and the timeline, which increases with
 * each promotion. A primary reads its timeline from the log, because the control file has it only after a checkpoint.
 */
export const whichTimeline = statement(
  'which-timeline',
  { parameters: {}, columns: { system: 'text', timeline: 'int' } },
  sql`
select system_identifier::text as system, case when pg_is_in_recovery()
    then (select timeline_id from pg_control_checkpoint())
    else ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int
  end as timeline
from pg_control_system()`,
)
