import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Whether this server writes; if it does, a record of its log is written, so that the commit waits as any other does. On a standby only
 * the first is looked at.
 */
export const probeWrite: PreparedStatement<{ isReadOnly: boolean }> = {
  name: 'probe-write',
  text: `
select current_setting('transaction_read_only')::boolean as "isReadOnly",
  case when not current_setting('transaction_read_only')::boolean then pg_logical_emit_message(true, 'gateway', '') end as written`,
}

/** For `probeRoom`: what is sorted goes to a file, beside the tables. */
export const sortOnDisk: PreparedStatement<object> = {
  name: 'sort-on-disk',
  text: `select set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true)`,
}

/** Sorts 300 kB in a file that is gone afterwards: 53100 where the disk is full. It leaves nothing behind, unlike rows. */
export const probeRoom: PreparedStatement<object> = {
  name: 'probe-room',
  text: `
select sum(length(filler)) from (
  select repeat('x', 1000) || n as filler from generate_series(1, 300) n order by md5(n::text)
) sorted`,
}

/** Whether a commit of ours waits for a standby. */
export const waitsForStandby: PreparedStatement<object> = {
  name: 'waits-for-standby',
  text: `select from pg_stat_activity where usename = current_user and wait_event = 'SyncRep' limit 1`,
}
