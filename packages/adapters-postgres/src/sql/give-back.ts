import { leaveBatch } from './leave-batch.ts'
import type { PreparedStatement } from './prepared-statement.ts'
import { wakeIdle } from './idle-dispatchers.ts'

/**
 * What was not submitted leaves batch $2 of dispatcher $1, to be due again: $3 ids. Only ids that the batch still holds; may be run
 * again. Returns whether the batch and its dispatcher are there.
 */
export const giveBack: PreparedStatement<{ alive: boolean; registered: boolean }> = {
  name: 'give-back',
  text: `
with batch as (
  select queue, lane, ids, send_first_ids, attempts
  from claimed_batch
  where dispatcher = $1::bigint and seq = $2::int
  for update
), held as (
  select unsent.id, batch.queue, batch.lane, coalesce(batch.attempts[position], 0::smallint) attempt,
    send.first_id, send.account_id, coalesce(send.scheduled_at, send.created_at) due_at, send.scheduled_at is not null scheduled
  from batch
  cross join (select distinct id from unnest($3::bigint[]) id) unsent
  cross join lateral array_position(batch.ids, unsent.id) position
  cross join lateral (
    select first_id, account_id, scheduled_at, created_at
    from send
    where first_id = coalesce(batch.send_first_ids[position], batch.send_first_ids[1]) offset 0
  ) send
  where position is not null and not exists (select from message where id = any (array[unsent.id]))
), ${leaveBatch}, due_again as (
  insert into due (queue, lane, attempt, account_id, lo, hi, first_id, due_at, deletable)
  select queue, lane, attempt, account_id, lower(ids), upper(ids), first_id, due_at, attempt = 0 and scheduled
  from (
    select queue, lane, attempt, account_id, first_id, due_at, scheduled, unnest(range_agg(int8range(id, id + 1))) ids
    from held
    group by queue, lane, attempt, account_id, first_id, due_at, scheduled
  ) ranges
)
select exists (select from batch) as alive, exists (select from dispatcher where id = $1::bigint) as registered,
  case when exists (select from held) then ${wakeIdle} end as woken`,
}
