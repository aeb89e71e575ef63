import type { WebhookCondition } from '@gateway/core'
import { listsPerBatch } from '../webhooks/lists-of-batch.ts'
import { VERDICT } from '../webhooks/webhook-row.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/** A list of its own for endpoint $1 with one event at $2, of the type with the code $3. For the ordinary connections. */
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
