import { LANE } from '../stored-codes.ts'
import type { PreparedStatement } from './prepared-statement.ts'
import { wakeIdle } from './idle-dispatchers.ts'

export interface StrandedRow {
  readonly queue: number
  readonly lane: number
  readonly account: number
  readonly lo: number
  readonly hi: number
  /** Null: none known. */
  readonly from: string | null
  /** Of the ids from `lo` on: an array of digits. */
  readonly numbers: string
}

/** Ranges of the bulk lane that are read together, for each of the single lane a hundredth. */
const bulkShare = 0.01

/**
 * At most $1 ranges that are due in queues from which nobody claims any more: those of routes that are not published, those of a carrier that a
 * route has no longer, and that of no route once there are routes.
 */
export const findStranded: PreparedStatement<StrandedRow> = {
  name: 'find-stranded',
  text: `
select waiting.queue, waiting.lane, waiting.account_id as account, waiting.lo, waiting.hi,
  (select address from sender where id = send.sender) as "from", send.numbers::text
from queue
left join lateral (select position, carriers from route where id = queue.route) route on true
cross join unnest('{${LANE.single},${LANE.bulk}}'::smallint[]) lanes(lane)
cross join lateral (
  select due.queue, due.lane, account_id, lo, hi, first_id
  from due
  where due.queue = queue.id and due.lane = lanes.lane
  limit case when lanes.lane = ${LANE.single} then $1::int else ceil($1::int * ${bulkShare})::int end
) waiting
cross join lateral (
  select sender, msisdns[waiting.lo - first_id + 1:waiting.hi - first_id] numbers
  from send
  where first_id = waiting.first_id offset 0
) send
where case
  when queue.id = 0 then exists (select from route where route.position is not null)
  when route.position is null then true
  else queue.refused_by <> '' and (cardinality(route.carriers) = 1 or queue.refused_by <> all (route.carriers))
end
limit $1::int`,
}

/**
 * Moves ranges that are still where they were found: $1 queues, $2 lanes, $3 accounts, $4 lo, $5 hi; into parts of each, as arrays in text: $6 queues, $7 lo,
 * $8 hi. Returns how many ranges moved. May be run again.
 */
export const moveRanges: PreparedStatement<{ moved: number }> = {
  name: 'move-ranges',
  text: `
with there as (
  select waiting.row_id, found.place
  from unnest($1::smallint[], $2::smallint[], $3::int[], $4::bigint[], $5::bigint[])
    with ordinality found(queue, lane, account_id, lo, hi, place)
  cross join lateral (
    select ctid row_id
    from due
    where due.queue = found.queue and due.lane = found.lane and due.account_id = found.account_id
      and due.lo = found.lo and due.hi = found.hi
    for update skip locked
  ) waiting
), moved as (
  delete from due using there where due.ctid = there.row_id returning due.*, there.place
), placed as (
  insert into due (queue, lane, attempt, account_id, lo, hi, first_id, due_at, deletable)
  select part.queue, moved.lane, moved.attempt, moved.account_id, part.lo, part.hi, moved.first_id, moved.due_at, moved.deletable
  from moved
  cross join lateral unnest(($6::text[])[place]::smallint[], ($7::text[])[place]::bigint[], ($8::text[])[place]::bigint[])
    part(queue, lo, hi)
)
select count(*)::int as moved, case when count(*) > 0 then ${wakeIdle} end as woken from moved`,
}
