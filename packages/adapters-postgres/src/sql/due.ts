import { OUTCOME, type Msisdn } from '@gateway/core/messages'
import { LANE } from '../stored-codes.ts'
import { refund } from './credits.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import { noteScheduled } from './scheduled.ts'
import { rankOf } from './rank.ts'
import type { WrittenArray } from './arrays.ts'
import { accountId, senderAddress } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'
import { storeMessageEvents } from './store-events.ts'

/**
 * Moves ranges that have become due from `later` to `due`: at most `rangesMax` ranges, with an equal share for each
 * account whose id is greater than `after` (0 in the first call). Reads at most `accountsMax` accounts; this must not
 * exceed `rangesMax`. Returns how many ranges moved, and the account to continue after, or 0 when all accounts were
 * read. Conditions compare pairs of columns in the order of the index on both columns, so that the planner can use no
 * other index.
 *
 * Cost with 1000 accounts: 25 µs and 301 bytes of WAL for each range; 30 µs in all if nothing is due.
 */
export const promote = statement(
  'promote',
  { parameters: { after: 'int', accountsMax: 'int', rangesMax: 'int' }, columns: { cursor: 'int', moved: 'int' } },
  sql`
with recursive accounts (account_id, walked) as (
  select (select account_id from later where account_id > :after order by account_id limit 1), 1
  where exists (select from later where at <= now())
  union all
  select (
    select later.account_id
    from later
    where later.account_id > accounts.account_id
    order by later.account_id
    limit 1
  ), walked + 1
  from accounts
  where accounts.account_id is not null and walked < :accountsMax
), ready as materialized (
  select account_id
  from accounts
  where account_id is not null and exists (
    select
    from (
      select later.account_id, at
      from later
      where (later.account_id, later.at) >= (accounts.account_id, '-infinity')
      order by later.account_id, later.at
      limit 1
    ) first
    where first.account_id = accounts.account_id and first.at <= now()
  )
), picked as (
  select share.row_id
  from ready
  cross join lateral (
    select ctid row_id
    from later
    where (account_id, at) >= (ready.account_id, '-infinity') and (account_id, at) <= (ready.account_id, now())
    order by account_id, at
    limit (select :rangesMax / greatest(count(*), 1) from ready)
    for update skip locked
  ) share
), moved as (
  delete from later where ctid = any (array(select row_id from picked)) returning *
), due_now as (
  insert into due (queue, lane, attempt, account_id, rank, lo, hi, first_id, due_at, expires_at, deletable)
  select queue, lane, attempt, account_id, ${rankOf('rank', 'attempt')}, lo, hi, first_id, due_at, expires_at,
    attempt = 0
  from moved
), ${noteScheduled('select account_id, due_at, lo, lo - hi change from moved where attempt = 0')}
select (select case when count(account_id) < :accountsMax then 0 else max(account_id) end from accounts) as cursor,
  (select count(*)::int from moved) as moved,
  case when exists (select from moved) then ${wakeIdle} end as woken`,
)

/**
 * Expires waiting ranges whose validity has ended. A range without a validity expires if it was due more than
 * `validitySeconds` ago. The messages get outcome 101 and are refunded. Expires at most `rangesMax` ranges of each
 * table in either way. Returns the number of messages. No attempt is scheduled before the message is due, so that `at`
 * is never before `due_at`. For attempt 0 both are equal.
 */
export const expire = statement(
  'expire',
  { parameters: { validitySeconds: 'float8', rangesMax: 'int' }, columns: { expired: 'int' } },
  sql`
with past_due as (
  select ctid row_id
  from due
  where expires_at is null and due_at < now() - make_interval(secs => :validitySeconds)
  order by due_at
  limit :rangesMax
  for update skip locked
), over_due as (
  select ctid row_id
  from due
  where expires_at <= now()
  order by expires_at
  limit :rangesMax
  for update skip locked
), past_scheduled as (
  select ctid row_id
  from later
  where expires_at is null and at < now() - make_interval(secs => :validitySeconds)
  order by at
  limit :rangesMax
  for update skip locked
), past_tried as (
  select ctid row_id
  from later
  where expires_at is null and attempt > 0 and due_at < now() - make_interval(secs => :validitySeconds)
  order by due_at
  limit :rangesMax
  for update skip locked
), over_later as (
  select ctid row_id
  from later
  where expires_at <= now()
  order by expires_at
  limit :rangesMax
  for update skip locked
), from_due as (
  delete from due
  where ctid = any (array(select row_id from past_due union all select row_id from over_due))
  returning lo, hi, first_id
), from_later as (
  delete from later
  where ctid = any (array(
    (select row_id from past_scheduled union select row_id from past_tried limit :rangesMax)
    union all
    select row_id from over_later
  ))
  returning account_id, due_at, attempt, lo, hi, first_id
), ${noteScheduled('select account_id, due_at, lo, lo - hi change from from_later where attempt = 0')}, expired as (
  select message.id, send.first_id send_first_id, send.account_id, send.sender, send.confirms_opt_out,
    ${OUTCOME.expired}::smallint code,
    send.price amount, now() as at, send.msisdns[message.id - send.first_id + 1] msisdn,
    false has_reference
  from (select * from from_due union all select lo, hi, first_id from from_later) waiting
  cross join lateral (select * from send where first_id = waiting.first_id offset 0) send
  cross join lateral generate_series(waiting.lo, waiting.hi - 1) message(id)
), messages as (
  insert into message (id, send_first_id, msisdn, account_id, sender, confirms_opt_out, code, code_at)
  select id, send_first_id, msisdn, account_id, sender, confirms_opt_out, code, now()
  from expired
), ${refund('expired')}, ${storeMessageEvents('expired', 'handover')}
select count(*)::int as expired from expired`,
)

/**
 * Number of ranges read from the bulk lane for each range read from the single lane. It is low because bulk ranges are
 * larger.
 */
const bulkShare = 0.01

/**
 * Finds at most `rangesMax` due ranges in queues from which no dispatcher claims any more: queues of routes that are no
 * longer published, queues of a carrier that its route no longer has, and the queue without a route once routes exist.
 * `numbers` are the recipients of the ids from `lo` on, as the text of an array of digits.
 */
export const findStranded = statement(
  'find-stranded',
  {
    parameters: { rangesMax: 'int' },
    columns: {
      queue: 'smallint',
      lane: 'smallint',
      account: accountId,
      rank: 'smallint',
      lo: 'bigint',
      hi: 'bigint',
      from: nullable(senderAddress),
      numbers: column<WrittenArray<Msisdn>>('text'),
    },
  },
  sql`
select waiting.queue, waiting.lane, waiting.account_id as account, waiting.rank, waiting.lo, waiting.hi,
  (select address from sender where id = send.sender) as "from", send.numbers::text
from queue
left join lateral (select position, carriers from route where id = queue.route) route on true
cross join unnest('{${LANE.single},${LANE.bulk}}'::smallint[]) lanes(lane)
cross join lateral (
  select due.queue, due.lane, account_id, rank, lo, hi, first_id
  from due
  where due.queue = queue.id and due.lane = lanes.lane
  limit case when lanes.lane = ${LANE.single} then :rangesMax else ceil(:rangesMax * ${bulkShare})::int end
) waiting
cross join lateral (
  select sender, msisdns[waiting.lo - first_id + 1 : waiting.hi - first_id] numbers
  from send
  where first_id = waiting.first_id offset 0
) send
where case
  when queue.id = 0 then exists (select from route where route.position is not null)
  when route.position is null then true
  when queue.only_for <> '' then cardinality(route.carriers) < 3 or queue.only_for <> all (route.carriers)
  else queue.refused_by <> '' and (cardinality(route.carriers) = 1 or queue.refused_by <> all (route.carriers))
end
limit :rangesMax`,
)

/**
 * Divides each range that is still where it was found into parts and moves these to their queues. Each element of
 * `partQueues`, `partLo` and `partHi` is the text of an array with one element for each part of the range. Returns how
 * many ranges moved. May be run again.
 */
export const moveRanges = statement(
  'move-ranges',
  {
    parameters: {
      queues: 'smallint[]',
      lanes: 'smallint[]',
      accounts: 'int[]',
      ranks: 'smallint[]',
      lo: 'bigint[]',
      hi: 'bigint[]',
      partQueues: 'text[]',
      partLo: 'text[]',
      partHi: 'text[]',
    },
    columns: { moved: 'int' },
  },
  sql`
with there as (
  select waiting.row_id, found.place
  from unnest(:queues, :lanes, :accounts, :ranks, :lo, :hi)
    with ordinality found(queue, lane, account_id, rank, lo, hi, place)
  cross join lateral (
    select ctid row_id
    from due
    where due.queue = found.queue and due.lane = found.lane and due.account_id = found.account_id
      and due.rank = found.rank and due.lo = found.lo and due.hi = found.hi
    for update skip locked
  ) waiting
), moved as (
  delete from due using there where due.ctid = there.row_id returning due.*, there.place
), placed as (
  insert into due (queue, lane, attempt, account_id, rank, lo, hi, first_id, due_at, expires_at, deletable)
  select part.queue, moved.lane, moved.attempt, moved.account_id, moved.rank, part.lo, part.hi, moved.first_id,
    moved.due_at, moved.expires_at, moved.deletable
  from moved
  cross join lateral unnest((:partQueues)[place]::smallint[], (:partLo)[place]::bigint[], (:partHi)[place]::bigint[])
    part(queue, lo, hi)
)
select count(*)::int as moved, case when count(*) > 0 then ${wakeIdle} end as woken from moved`,
)
