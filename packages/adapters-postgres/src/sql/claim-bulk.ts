import { LANE } from '../stored-codes.ts'
import { renewLease, storeBatch, type ClaimRow } from './claimed-ranges.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Claims from the bulk lane of queue $9: at most $5 messages, of the oldest ranges (at most $4, the last one split) of the account that is next
 * after the cursor $3. $1 dispatcher, $2 number of the claimed batch (new each time), $6 marked at birth, $7 lease in seconds, $8
 * carrier. Never run again: where its answer was lost the batch is disowned. Cost: 1.2 µs, 11 bytes of log a message, slices of 500.
 *
 * What screening needs comes with it: nothing to pay where neither the account nor everybody has suppressed numbers, else
 * 3 µs a message.
 */
export const claimBulk: PreparedStatement<ClaimRow> = {
  name: 'claim-bulk',
  text: `
with next_account as (
  select coalesce(
    (select account_id from due where queue = $9::smallint and lane = ${LANE.bulk} and account_id > $3::int order by account_id limit 1),
    (select account_id from due where queue = $9::smallint and lane = ${LANE.bulk} order by account_id limit 1)
  ) id
), candidates as (
  select row_id, (sum(hi - lo) over (order by lo) - (hi - lo))::bigint messages_before
  from (
    select ctid row_id, lo, hi
    from due
    where queue = $9::smallint and lane = ${LANE.bulk} and account_id = (select id from next_account)
    order by lo
    limit $4::int
    for update skip locked
  ) oldest
), ${renewLease}, claimed as (
  delete from due
  using candidates
  where due.ctid = candidates.row_id and messages_before < $5::int and exists (select from renewed)
  returning due.account_id, lo, least(hi, lo + $5::int - messages_before) hi, hi range_hi, first_id, attempt, due_at, deletable
), rest as (
  insert into due (queue, lane, attempt, account_id, lo, hi, first_id, due_at, deletable)
  select $9::smallint, ${LANE.bulk}, attempt, account_id, hi, range_hi, first_id, due_at, deletable
  from claimed
  where hi < range_hi
), ${storeBatch(LANE.bulk, '(select id from next_account)')}`,
}
