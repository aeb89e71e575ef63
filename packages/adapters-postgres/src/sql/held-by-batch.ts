import { leaveBatch } from './leave-batch.ts'

/**
 * Of the ids $3 those that batch $2 of dispatcher $1 still holds leave it: CTEs `batch`, `held` (of each message what a range of waiting ones says)
 * and `ranges` (the same of neighbours, as ranges of ids).
 */
export const heldByBatch = `batch as (
  select queue, carrier, lane, ids, send_first_ids, attempts
  from claimed_batch
  where dispatcher = $1::bigint and seq = $2::int
  for update
), held as (
  select wanted.id, batch.carrier, batch.queue, batch.lane, coalesce(batch.attempts[position], 0::smallint) attempt,
    send.first_id, send.account_id, coalesce(send.scheduled_at, send.created_at) due_at, send.scheduled_at is not null scheduled
  from batch
  cross join (select distinct id from unnest($3::bigint[]) id) wanted
  cross join lateral array_position(batch.ids, wanted.id) position
  cross join lateral (
    select first_id, account_id, scheduled_at, created_at
    from send
    where first_id = coalesce(batch.send_first_ids[position], batch.send_first_ids[1]) offset 0
  ) send
  where position is not null and not exists (select from message where id = any (array[wanted.id]))
), ${leaveBatch}, ranges as (
  select queue, lane, attempt, account_id, first_id, due_at, scheduled, unnest(range_agg(int8range(id, id + 1))) ids
  from held
  group by queue, lane, attempt, account_id, first_id, due_at, scheduled
)`
