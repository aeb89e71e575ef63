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
