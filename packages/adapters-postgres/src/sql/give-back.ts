import { heldByBatch } from './held-by-batch.ts'
import type { PreparedStatement } from './prepared-statement.ts'
import { wakeIdle } from './idle-dispatchers.ts'

/**
 * What was not submitted leaves batch $2 of dispatcher $1, to be due again: $3 ids. Only ids that the batch still holds; may be run
 * again. Returns whether the batch and its dispatcher are there.
 */
export const giveBack: PreparedStatement<{ alive: boolean; registered: boolean }> = {
  name: 'give-back',
  text: `
with ${heldByBatch}, due_again as (
  insert into due (queue, lane, attempt, account_id, lo, hi, first_id, due_at, deletable)
  select queue, lane, attempt, account_id, lower(ids), upper(ids), first_id, due_at, attempt = 0 and scheduled
  from ranges
)
select exists (select from batch) as alive, exists (select from dispatcher where id = $1::bigint) as registered,
  case when exists (select from held) then ${wakeIdle} end as woken`,
}
