import { singleLaneMax } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * What the carrier refused for now leaves batch $2 of dispatcher $1, to be due again: $3 ids, $4 wait in seconds. Only ids
 * that the batch still holds; may be run again. Returns whether the batch is alive; if not, the ids are 106 by now, and
 * refuse-late tells what is known of them.
 *
 * Cost: 8 µs a message (500 together), 10 µs (10 of a batch of 500).
 */
export const postpone: PreparedStatement<{ alive: boolean }> = {
  name: 'postpone',
  text: `
with o as (
  select ids, send_first_ids, attempts from claimed_batch where dispatcher = $1::bigint and seq = $2::int for update
), v as (
  select c.id, coalesce(o.attempts[p.n], 0) + 1 attempt, s.first_id, s.n, s.account_id, coalesce(s.scheduled_at, s.created_at) due_at
  from o cross join (select distinct id from unnest($3::bigint[]) t(id)) c cross join lateral array_position(o.ids, c.id) p(n)
  cross join lateral (
    select first_id, n, account_id, scheduled_at, created_at from send where first_id = coalesce(o.send_first_ids[p.n], o.send_first_ids[1]) offset 0) s
  where p.n is not null and not exists (select from message m where m.id = any (array[c.id]))
), f as (
  update claimed_batch set ids = array(select case when x = any($3::bigint[]) then null else x end from unnest(claimed_batch.ids) with ordinality t(x, n) order by n)
  where dispatcher = $1::bigint and seq = $2::int and exists (select from v)
), l as (
  insert into later (lane, attempt, account_id, lo, hi, first_id, due_at, at)
  select case when n <= ${singleLaneMax} then 0 else 1 end, attempt, account_id, lower(r), upper(r), first_id, due_at, now() + make_interval(secs => $4::float8)
  from (select attempt, n, account_id, first_id, due_at, unnest(range_agg(int8range(id, id + 1))) r from v group by 1, 2, 3, 4, 5) g
), i as (
  insert into incident (message_id, what) select id, 'refused for now' from v
)
select exists (select from o) as alive`,
}
