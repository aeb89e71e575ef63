import { messageSequence, OUTCOME, type WebhookCondition } from '@gateway/core'
import { listsPerBatch } from '../webhooks/lists-of-batch.ts'
import { VERDICT } from '../webhooks/webhook-row.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/** A list of its own for endpoint $1 with one event at $2, of the type at place $3. For the ordinary connections. */
export const addTestList: PreparedStatement<{ number: number }> = {
  name: 'add-test-list',
  text: `
with test as (
  select nextval('webhook_test') number
), added as (
  insert into webhook_list (id, webhook_id, is_test, from_at, to_at, events)
  select ${listsPerBatch} * nextval(pg_get_serial_sequence('webhook_batch', 'id')), $1::int, true, $2::timestamptz, $2::timestamptz,
    json_build_array(json_build_array(
      $3::int, 1, floor(extract(epoch from $2::timestamptz) * 1000)::bigint, null, null, null, null, null, null, null, null,
      json_build_array(number), null
    ))::text
  from test
)
select number, ${wakeIdle} as woken from test`,
}

/** Of a message that has come to its end. */
const finalSequence = messageSequence(OUTCOME.delivered, 'receipt')

/**
 * Events of `chosen` lists and batches (events, is_test) wait again, each once; `happened` is a condition of what is said of an event. What events
 * have in common is read once: read for each, 100,000 events in batches of 1000 took 40 s, and take 0.4 s.
 */
const replayed = (chosen: string, happened: string, more = ''): string => `
with ${chosen}, stored as materialized (
  select (stored ->> 0)::smallint type, (stored ->> 1)::smallint sequence, (stored ->> 2)::bigint at, (stored ->> 3)::smallint code,
    (stored ->> 4)::bigint send_first_id, (stored ->> 6)::bool has_reference, stored ->> 10 as text, stored -> 11 as subjects,
    case json_typeof(stored -> 12) when 'array' then stored -> 12 else '[]' end as numbers
  from chosen
  cross join lateral json_array_elements(events::json) stored
  where not is_test
), happened as (
  select distinct on (type, subject, sequence, number, at) *
  from (
    select type, sequence, at, code, send_first_id, has_reference, text, subject::bigint, number::bigint
    from stored
    cross join lateral rows from (json_array_elements_text(subjects), json_array_elements_text(numbers)) event(subject, number)
  ) event
  where ${happened}
  order by type, subject, sequence, number, at
), again as (
  insert into webhook_event
    (webhook_id, type, sequence, at, code, send_first_id, has_reference, text, count, subjects, msisdns)
  select $1::int, type, sequence, to_timestamp(at / 1000.0), code, send_first_id, has_reference, case when subject = 0 then text end,
    1, array[subject], array[number]
  from happened
  order by at, subject, sequence
  returning 1
)${more}
select count(*)::int as replayed, case when exists (select from again) then ${wakeIdle} end as woken from again`

type Replaying = PreparedStatement<{ replayed: number }>

/** Those of dead lists of endpoint $1, which count as replayed. Returns how many. For the ordinary connections. */
export const replayDead: Replaying = {
  name: 'replay-dead',
  text: replayed(
    `chosen as (select id, events, is_test from webhook_list where webhook_id = $1::int and state = 2 for update)`,
    'true',
    `, counted as (update webhook_list set state = 3 where id = any (array(select id from chosen)))`,
  ),
}

/** Those of ended lists of endpoint $1 from $2 to before $3. Returns how many. For the ordinary connections. */
export const replayPeriod: Replaying = {
  name: 'replay-period',
  text: replayed(
    `chosen as (
  select events, is_test from webhook_list where webhook_id = $1::int and state <> 0 and to_at >= $2::timestamptz and from_at < $3::timestamptz
  union all
  select part.events, false
  from webhook_batch batch
  cross join lateral (
    select array_agg((id - ${listsPerBatch} * batch.id)::int) places
    from webhook_list
    where id between ${listsPerBatch} * batch.id and ${listsPerBatch} * batch.id + lists - 1 and events is null
  ) delivered
  cross join lateral (
    select batch.events where cardinality(places) = lists
    union all
    select piece.events from cut_webhook_events(batch.events, list_size, places) piece where cardinality(places) < lists
  ) part
  where webhook_id = $1::int and batch.to_at >= $2::timestamptz and batch.from_at < $3::timestamptz
)`,
    'at >= extract(epoch from $2::timestamptz) * 1000 and at < extract(epoch from $3::timestamptz) * 1000',
  ),
}

const mayHave = `webhook_id = $1::int and to_at > (select lo - interval '1 ms' from moment) and from_at < (select hi + interval '1 ms' from moment)
    and events like '%' || coalesce($5::bigint, $3::bigint) || '%'`

/**
 * That of endpoint $1 that is of a type in $2, with subject $3 and, where they are not null, sequence $4 (of a message), number $5 and time $6 in
 * milliseconds. Returns 1 or 0. What it tells of says when it happened, and so which lists are to be read: of 100,000 lists it takes 1 ms.
 */
export const replayEvent: Replaying = {
  name: 'replay-event',
  text: replayed(
    `moment as materialized (
  select case when $4::smallint = ${finalSequence} then at else least(at, sent_at) end lo,
    case when $4::smallint = ${finalSequence} then at else greatest(at, sent_at) end hi
  from (select sent_at, coalesce(code_at, sent_at) at from message where id = $3::bigint and $4::smallint is not null) message
  union all
  select at, at from inbound_message where id = $3::bigint and $4::smallint is null and $6::bigint is null
  union all
  select at, at from to_timestamp($6::bigint / 1000.0) at where $6::bigint is not null
), chosen as (
  select events, is_test from webhook_list where ${mayHave}
  union all
  select events, false from webhook_batch where ${mayHave}
)`,
    `type = any ($2::smallint[]) and subject = $3::bigint and sequence = coalesce($4::smallint, sequence)
      and ($5::bigint is null or number = $5::bigint) and at = coalesce($6::bigint, at)`,
  ),
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
  /** Null: its batch has them. */
  readonly events: string | null
}

/**
 * Of endpoint $1, the newest first, after $2 of them at most $3; one row with nothing but the total if there are none. A list that was delivered tells of
 * the try that did it. For the ordinary connections.
 */
export const listAttempts: PreparedStatement<AttemptRow> = {
  name: 'list-attempts',
  text: `
select all_of.total, page.*
from (
  select (select count(*) from webhook_attempt where webhook_id = $1::int)::int
    + (select count(*) from webhook_list where webhook_id = $1::int and state = 1)::int total
) all_of
left join lateral (
  select attempt.*, (select events from webhook_list where id = attempt.list) events
  from (
    select list_id list, tries, at, next_at next, verdict, milliseconds, status, failure, retry_after, beginning
    from webhook_attempt
    where webhook_id = $1::int
    union all
    select id, tries, due_at, null, ${VERDICT.delivered}, milliseconds, status, null, retry_after, beginning
    from webhook_list
    where webhook_id = $1::int and state = 1
    order by at desc, list desc, tries desc
    offset $2::bigint
    limit $3::int
  ) attempt
) page on true
order by page.at desc, page.list desc, page.tries desc`,
}

/** The batches $1. For the ordinary connections. */
export const findBatches: PreparedStatement<{ id: number; list_size: number; events: string }> = {
  name: 'find-webhook-batches',
  text: `select id, list_size, events from webhook_batch where id = any ($1::bigint[])`,
}

/** Of endpoint $1. For the ordinary connections. */
export const backlogOf: PreparedStatement<{ events: number; lists: number; dead: number }> = {
  name: 'webhook-backlog',
  text: `
select (select coalesce(sum(count), 0) from webhook_event where webhook_id = $1::int)::int as events,
  (select count(*) from webhook_list where webhook_id = $1::int and state = 0)::int
    + (select coalesce(sum(open), 0) from webhook_batch where webhook_id = $1::int and open > 0)::int as lists,
  (select count(*) from webhook_list where webhook_id = $1::int and state = 2)::int as dead`,
}

/**
 * What waits for all endpoints, by their condition, of each the first $1 rows of each kind; times in milliseconds. For the ordinary connections.
 * Of 1000 endpoints 1 ms if nothing waits; 70 ms with 100,000 rows of a million, 10,000 open lists and as many dead ones.
 */
export const webhookTotals: PreparedStatement<{
  condition: WebhookCondition
  endpoints: number
  events: number
  lists: number
  dead: number
  oldest: number | null
}> = {
  name: 'webhook-totals',
  text: `
select condition, endpoints, events, lists, dead, floor(extract(epoch from oldest) * 1000)::bigint as oldest
from webhook_totals($1)`,
}
