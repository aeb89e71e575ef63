import type { WebhookCondition } from '@gateway/core'
import { LIST_STATE, VERDICT } from '../stored-codes.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import { milliseconds } from './arrays.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * A list of its own for endpoint $1 with one event at $2, of the type with the code $3. For the ordinary connections.
 */
export const addTestList: PreparedStatement<{ number: number }> = {
  name: 'add-test-list',
  text: `
with test as (
  select nextval('webhook_test') number
), added as (
  insert into webhook_list (webhook_id, is_test, from_at, to_at, events)
  select $1::int, true, $2::timestamptz, $2::timestamptz, json_build_array(json_build_object(
    'type', $3::int, 'sequence', 1, 'at', ${milliseconds('$2::timestamptz')}, 'subjects', json_build_array(number)
  ))
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
  readonly events: unknown
}

/**
 * Of endpoint $1, the newest first, after $2 of them at most $3; one row with nothing but the total if there are none.
 * A list that was delivered tells of the try that did it. For the ordinary connections.
 */
export const listAttempts: PreparedStatement<AttemptRow> = {
  name: 'list-attempts',
  text: `
select all_of.total, page.*
from (
  select (select count(*) from webhook_attempt where webhook_id = $1::int)::int
    + (select count(*) from webhook_list where webhook_id = $1::int and state = ${LIST_STATE.delivered})::int total
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
    where webhook_id = $1::int and state = ${LIST_STATE.delivered}
    order by at desc, list desc, tries desc
    offset $2::bigint
    limit $3::int
  ) attempt
) page on true
order by page.at desc, page.list desc, page.tries desc`,
}

/** Of endpoint $1. For the ordinary connections. */
export const backlogOf: PreparedStatement<{ events: number; lists: number; dead: number }> = {
  name: 'webhook-backlog',
  text: `
select (select coalesce(sum(count), 0) from webhook_event where webhook_id = $1::int)::int as events,
  (select count(*) from webhook_list where webhook_id = $1::int and state = ${LIST_STATE.open})::int as lists,
  (select count(*) from webhook_list where webhook_id = $1::int and state = ${LIST_STATE.dead})::int as dead`,
}

/**
 * What waits for all endpoints, by their condition, of each the first $1 rows of each kind; times in milliseconds. For
 * the ordinary connections. Of 1000 endpoints 1 ms if nothing waits; 70 ms with 100,000 rows of a million, 10,000 open
 * lists and as many dead ones.
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
