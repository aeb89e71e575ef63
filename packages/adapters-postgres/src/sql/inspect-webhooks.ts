import { wakeIdle } from './idle-dispatchers.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/** A list of its own for endpoint $1 with one event at $2, of the type at place $3. For the ordinary connections. */
export const addTestList: PreparedStatement<{ number: number }> = {
  name: 'add-test-list',
  text: `
with test as (
  select nextval('webhook_test') number
), added as (
  insert into webhook_list (webhook_id, is_test, from_at, to_at, events)
  select $1::int, true, $2::timestamptz, $2::timestamptz,
    json_build_array(json_build_array(
      $3::int, 1, floor(extract(epoch from $2::timestamptz) * 1000)::bigint, null, null, null, null, null, null, null, null,
      json_build_array(number), null
    ))::text
  from test
)
select number, ${wakeIdle} as woken from test`,
}

/**
 * Events of endpoint $1 wait again, each once: where $2 is 'dead' those of dead lists, which count as replayed; of a 'period' those of
 * ended lists from $8 to before $9; of an 'event' the one of a type in $3, with subject $4 and, where they are not null, sequence $5, number $6 and
 * time $7 in milliseconds. Returns how many. For the ordinary connections.
 */
export const replayEvents: PreparedStatement<{ replayed: number }> = {
  name: 'replay-events',
  text: `
with chosen as (
  select id, events
  from webhook_list
  where webhook_id = $1::int and not is_test and case $2::text
    when 'dead' then state = 2
    when 'period' then state <> 0 and from_at < $9::timestamptz and to_at >= $8::timestamptz
    else true end
  for update
), stored as (
  select (stored ->> 0)::smallint type, (stored ->> 1)::smallint sequence, (stored ->> 2)::bigint at, (stored ->> 3)::smallint code,
    (stored ->> 4)::bigint send_first_id, (stored ->> 6)::bool has_reference, stored ->> 10 as text, stored -> 11 as subjects,
    case json_typeof(stored -> 12) when 'array' then stored -> 12 else '[]' end as numbers
  from chosen
  cross join lateral json_array_elements(events::json) stored
), happened as (
  select distinct on (type, subject, sequence, number, at) *
  from (
    select type, sequence, at, code, send_first_id, has_reference, text, subject::bigint, number::bigint
    from stored
    cross join lateral rows from (json_array_elements_text(subjects), json_array_elements_text(numbers)) event(subject, number)
  ) event
  where case $2::text
    when 'dead' then true
    when 'period' then at >= extract(epoch from $8::timestamptz) * 1000 and at < extract(epoch from $9::timestamptz) * 1000
    else type = any ($3::smallint[]) and subject = $4::bigint and sequence = coalesce($5::smallint, sequence)
      and ($6::bigint is null or number = $6::bigint) and at = coalesce($7::bigint, at) end
  order by type, subject, sequence, number, at
), again as (
  insert into webhook_event
    (webhook_id, type, sequence, at, code, send_first_id, has_reference, text, count, subjects, msisdns)
  select $1::int, type, sequence, to_timestamp(at / 1000.0), code, send_first_id, has_reference, case when subject = 0 then text end,
    1, array[subject], array[number]
  from happened
  order by at, subject, sequence
  returning 1
), replayed as (
  update webhook_list set state = 3
  where $2::text = 'dead' and state = 2 and id = any (array(select id from chosen))
)
select count(*)::int as replayed, case when exists (select from again) then ${wakeIdle} end as woken from again`,
}

export interface AttemptRow {
  readonly total: number
  readonly list: number | null
  readonly tries: number
  readonly at: number
  readonly next: number | null
  readonly verdict: number
  readonly milliseconds: number
  readonly status: number | null
  readonly failure: string | null
  readonly retry_after: number | null
  readonly beginning: string | null
  readonly events: string
}

/** Of endpoint $1, the newest first, after $2 of them at most $3; one row with nothing but the total if there are none. For the ordinary connections. */
export const listAttempts: PreparedStatement<AttemptRow> = {
  name: 'list-attempts',
  text: `
select all_of.total, page.*
from (select count(*)::int total from webhook_attempt where webhook_id = $1::int) all_of
left join lateral (
  select attempt.list_id list, attempt.tries, attempt.at, attempt.next_at next, attempt.verdict, attempt.milliseconds, attempt.status,
    attempt.failure, attempt.retry_after, attempt.beginning, list.events
  from webhook_attempt attempt
  join webhook_list list on list.id = attempt.list_id
  where attempt.webhook_id = $1::int
  order by attempt.at desc, attempt.list_id desc, attempt.tries desc
  offset $2::bigint
  limit $3::int
) page on true
order by page.at desc, page.list desc, page.tries desc`,
}

/** Of endpoint $1. For the ordinary connections. */
export const backlogOf: PreparedStatement<{ events: number; lists: number; dead: number }> = {
  name: 'webhook-backlog',
  text: `
select (select coalesce(sum(count), 0) from webhook_event where webhook_id = $1::int)::int as events,
  (select count(*) from webhook_list where webhook_id = $1::int and state = 0)::int as lists,
  (select count(*) from webhook_list where webhook_id = $1::int and state = 2)::int as dead`,
}
