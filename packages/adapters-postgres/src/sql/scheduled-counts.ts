import type { PreparedStatement } from './prepared-statement.ts'

/** Ids whose ranges of one due time are counted together. */
export const countedIds = 1000

/**
 * A CTE that notes how many scheduled messages `ranges` (account_id, due_at, lo, change) add to `later`, or take from it. Every
 * statement that inserts or deletes rows of `later` with attempt 0 has it, so that each snapshot sees counts and rows agree.
 */
export const noteScheduled = (ranges: string): string => `
noted_scheduled as (
  insert into scheduled_change (account_id, due_at, block, change)
  select account_id, due_at, lo / ${countedIds}, sum(change)
  from (${ranges}) ranges
  group by account_id, due_at, lo / ${countedIds}
  having sum(change) <> 0
)`

/**
 * Adds changes of the accounts from $1 to $2 to the counts: at most $3, and none while another does. May be run again. Returns how
 * many.
 *
 * Cost: 9 µs a change. For the ordinary connections.
 */
export const foldScheduled: PreparedStatement<{ folded: number }> = {
  name: 'fold-scheduled',
  text: `
with alone as materialized (
  select pg_try_advisory_xact_lock('scheduled_change'::regclass::oid::bigint) got
), changes as (
  delete from scheduled_change where ctid = any (array(
    select ctid from scheduled_change
    where account_id between $1::int and $2::int and (select got from alone)
    order by account_id limit $3::int
  ))
  returning account_id, due_at, block, change
), changed_blocks as (
  select distinct account_id, due_at, block from changes
), old_blocks as (
  delete from scheduled_block using changed_blocks changed
  where scheduled_block.account_id = changed.account_id and scheduled_block.due_at = changed.due_at and scheduled_block.block = changed.block
  returning scheduled_block.*
), new_blocks as (
  insert into scheduled_block (account_id, due_at, block, n)
  select account_id, due_at, block, sum(n)
  from (select * from old_blocks union all select * from changes) counted (account_id, due_at, block, n)
  group by account_id, due_at, block having sum(n) <> 0
), hours as (
  select account_id, date_bin('1 hour', due_at, 'epoch') as hour, sum(change) n from changes group by 1, 2
), old_hours as (
  delete from scheduled_hour using hours where scheduled_hour.account_id = hours.account_id and scheduled_hour.hour = hours.hour
  returning scheduled_hour.*
), new_hours as (
  insert into scheduled_hour (account_id, hour, n)
  select account_id, hour, sum(n)
  from (select * from old_hours union all select * from hours) counted (account_id, hour, n)
  group by account_id, hour having sum(n) <> 0
)
select count(*)::int as folded from changes`,
}
