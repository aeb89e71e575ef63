import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Ends the server's side of a connection that was lost, and returns a row as long as it is there: $1 its process id, $2 when
 * it started. To be repeated until no row comes; from then on what it did is visible, and it does nothing more.
 */
export const endBackend: PreparedStatement<{ ended: boolean }> = {
  name: 'end-backend',
  text: `select pg_terminate_backend(pid) as ended from pg_stat_activity
where pid = $1::int and extract(epoch from backend_start) = $2::numeric`,
}

/** Which of the sends $1 there are. */
export const findSends: PreparedStatement<{ first_id: number }> = {
  name: 'find-sends',
  text: 'select first_id from send where first_id = any ($1::bigint[])',
}

/**
 * Writes what nobody reads, so that its commit waits as every commit does that wrote: for the disk, and for a synchronous standby. What could
 * be seen before it ran comes before it in the log, and is as safe when it has been answered (docs/decisions/0072).
 */
export const writeNothing: PreparedStatement<object> = {
  name: 'write-nothing',
  text: `select from pg_logical_emit_message(true, 'gateway', '')`,
}
