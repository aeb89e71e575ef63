import { sql, statement } from './statement.ts'

/**
 * Ends the server's side of a connection that was lost: the process `pid` that began at `start`. Returns a row as
 * long as it is there. To be repeated until no row comes; from then on what it did is visible, and it does nothing
 * more.
 */
export const endBackend = statement(
  'end-backend',
  { parameters: { pid: 'int', start: 'numeric' }, columns: { ended: 'bool' } },
  sql`select pg_terminate_backend(pid) as ended from pg_stat_activity
where pid = :pid and extract(epoch from backend_start) = :start`,
)

/**
 * Writes what nobody reads, so that its commit waits as every commit does that wrote: for the disk, and for a
 * synchronous standby. What could be seen before it ran comes before it in the log, and is as safe when it has been
 * answered (docs/decisions/0072).
 */
export const writeNothing = statement(
  'write-nothing',
  { parameters: {} },
  sql`select from pg_logical_emit_message(true, 'gateway', '')`,
)

/**
 * Whether this server writes; if it does, a record of its log is written, so that the commit waits as any other does.
 * On a standby only the first is looked at.
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

/** For `probeRoom`: what is sorted goes to a file, beside the tables. */
export const sortOnDisk = statement(
  'sort-on-disk',
  { parameters: {} },
  sql`select from set_config('work_mem', '64kB', true) memory, set_config('temp_tablespaces', '', true) spaces`,
)

/**
 * Sorts 300 kB in a file that is gone afterwards: 53100 where the disk is full. It leaves nothing behind, unlike
 * rows.
 */
export const probeRoom = statement(
  'probe-room',
  { parameters: {}, columns: { sum: 'bigint' } },
  sql`
select sum(length(filler)) from (
  select repeat('x', 1000) || n as filler from generate_series(1, 300) n order by md5(n::text)
) sorted`,
)

/** Whether a commit of ours waits for a standby. */
export const waitsForStandby = statement(
  'waits-for-standby',
  { parameters: {} },
  sql`select from pg_stat_activity where usename = current_user and wait_event = 'SyncRep' limit 1`,
)

/** Whether this server takes writes: not a standby, nor one whose transactions only read. */
export const whetherPrimary = statement(
  'whether-primary',
  { parameters: {}, columns: { isPrimary: 'bool' } },
  sql`select not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean as "isPrimary"`,
)

/**
 * Which database this is, whatever server has it, and its timeline: a promotion begins a new one. The log tells a
 * primary's at once, the control file only after a checkpoint.
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
