import { INCIDENT } from '@gateway/core'
import { heldByBatch } from './held-by-batch.ts'
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
with ${heldByBatch}, due_later as (
  insert into later (queue, lane, attempt, account_id, lo, hi, first_id, due_at, at)
  select coalesce($5::smallint, queue), lane, attempt + 1, account_id, lower(ids), upper(ids), first_id, due_at,
    now() + make_interval(secs => $4::float8)
  from ranges
), incidents as (
  insert into incident (message_id, what, carrier) select id, '${INCIDENT.refusedForNow}', carrier from held
)
select exists (select from batch) as alive, exists (select from dispatcher where id = $1::bigint) as registered`,
}
