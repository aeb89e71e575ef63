import type { FoundMessage } from '@gateway/core'
import { LANE } from '../stored-codes.ts'
import type { RowOf } from '../row-of.ts'
import { milliseconds } from './milliseconds.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * The first $8 messages to number $1, the latest due first, then the highest id: of account $2 (or null), due from $3 (or
 * null) to before $4 (or null), after the message $6 that was due at $5 (or null), if decided due from $7 on. In one look: a
 * message that moves is in one place.
 *
 * For the ordinary connections. What is decided is found by the index that replies need; of what waits every range is
 * looked through: 30 ns a number of a bulk send, 2 µs a single one. Sends are looked up one by one: a join would read all
 * of them. A number with 100,000 messages takes 0.5 s.
 */
export const findMessages: PreparedStatement<RowOf<FoundMessage>> = {
  name: 'find-messages',
  text: `
with claimed as materialized (
  select given.id, coalesce(batch.send_first_ids[given.place], batch.send_first_ids[1]) first_id,
    coalesce(batch.attempts[given.place], 0) attempt, given.place <= batch.marked marked
  from claimed_batch batch
  cross join lateral unnest(batch.ids) with ordinality given(id, place)
  where given.id is not null
), waiting as (
  select account_id, lo, hi, first_id, case when attempt = 0
    then json_build_object('place', 'scheduled', 'due', ${milliseconds('at')})
    else json_build_object('place', 'postponed', 'until', ${milliseconds('at')}, 'attempt', attempt) end place
  from later
  union all
  select account_id, lo, hi, first_id, json_build_object('place', 'queue', 'attempt', attempt)
  from due
  where queue in (select id from queue) and lane in (${LANE.single}, ${LANE.bulk})
), found as (
  select id, send_first_id first_id, true decided,
    json_build_object('place', 'decided', 'code', code, 'at', ${milliseconds('coalesce(code_at, sent_at)')}) place
  from message
  where msisdn = $1::bigint and ($2::int is null or account_id = $2::int)
  union all
  select waiting.lo + place_in - 1, waiting.first_id, false, waiting.place
  from waiting
  cross join lateral (
    select msisdns[waiting.lo - waiting.first_id + 1 : waiting.hi - waiting.first_id] numbers
    from send
    where first_id = waiting.first_id offset 0
  ) send
  cross join lateral unnest(array_positions(send.numbers, $1::bigint)) place_in
  where $2::int is null or waiting.account_id = $2::int
  union all
  select claimed.id, claimed.first_id, false,
    json_build_object('place', 'claimed', 'marked', claimed.marked, 'attempt', claimed.attempt)
  from claimed
  cross join lateral (select msisdns, account_id from send where first_id = claimed.first_id offset 0) send
  where send.msisdns[claimed.id - claimed.first_id + 1] = $1::bigint and ($2::int is null or send.account_id = $2::int)
    and not exists (select from message where message.id = claimed.id)
), told as (
  select found.id, found.place, found.decided, send.*,
    date_trunc('milliseconds', coalesce(send.scheduled_at, send.created_at)) due
  from found
  cross join lateral (
    select account_id, sender, confirms_opt_out, price, created_at, scheduled_at
    from send
    where first_id = found.first_id offset 0
  ) send
)
select id, account_id account, (select address from sender where sender.id = told.sender) "from", confirms_opt_out confirmation,
  ${milliseconds('created_at')} accepted, ${milliseconds('due')} due, scheduled_at is not null scheduled, price "cost", place
from told
where ($3::timestamptz is null or due >= $3::timestamptz)
  and ($4::timestamptz is null or due < $4::timestamptz)
  and ($5::timestamptz is null or (due, id) < ($5::timestamptz, $6::bigint))
  and (not decided or due >= $7::timestamptz)
order by told.due desc, id desc
limit $8::int`,
}
