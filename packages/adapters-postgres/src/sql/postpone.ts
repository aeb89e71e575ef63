import { INCIDENT } from '@gateway/core'
import { leaveBatch } from './leave-batch.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * What the carrier refused for now leaves batch $2 of dispatcher $1, to be due again: $3 ids, $4 wait in seconds, $5 queue, null: the same. Only ids
 * that the batch still holds; may be run again. Returns whether the batch and its dispatcher are there; if it was
 * taken over, the ids are 106 by now.
 *
 * Cost: 8 µs a message (500 together), 10 µs (10 of a batch of 500).
 */
export const postpone: PreparedStatement<{ alive: boolean; registered: boolean }> = {
  name: 'postpone',
  text: `
with batch as (
  select queue, carrier, lane, ids, send_first_ids, attempts
  from claimed_batch
  where dispatcher = $1::bigint and seq = $2::int
  for update
), held as (
  select refused.id, batch.carrier, coalesce($5::smallint, batch.queue) queue, batch.lane, coalesce(batch.attempts[position], 0) + 1 attempt,
    send.first_id, send.account_id, coalesce(send.scheduled_at, send.created_at) due_at
  from batch
  cross join (select distinct id from unnest($3::bigint[]) id) refused
  cross join lateral array_position(batch.ids, refused.id) position
  cross join lateral (
    select first_id, account_id, scheduled_at, created_at
    from send
    where first_id = coalesce(batch.send_first_ids[position], batch.send_first_ids[1]) offset 0
  ) send
  where position is not null and not exists (select from message where id = any (array[refused.id]))
), ${leaveBatch}, due_later as (
  insert into later (queue, lane, attempt, account_id, lo, hi, first_id, due_at, at)
  select queue, lane, attempt, account_id, lower(ids), upper(ids), first_id, due_at, now() + make_interval(secs => $4::float8)
  from (
    select queue, lane, attempt, account_id, first_id, due_at, unnest(range_agg(int8range(id, id + 1))) ids
    from held
    group by queue, lane, attempt, account_id, first_id, due_at
  ) ranges
), incidents as (
  insert into incident (message_id, what, carrier) select id, '${INCIDENT.refusedForNow}', carrier from held
)
select exists (select from batch) as alive, exists (select from dispatcher where id = $1::bigint) as registered`,
}
