import type { PushFailure, WebhookCondition } from '@gateway/core/webhooks'
import { LIST_STATE, VERDICT } from '../stored-codes.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import { milliseconds } from './arrays.ts'
import { instant } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'

/**
 * Adds a test list for an endpoint, with one event at `at` of the type with the code `type`. For the ordinary
 * connections.
 */
export const addTestList = statement(
  'add-test-list',
  { parameters: { webhook: 'int', at: 'timestamptz', type: 'int' }, columns: { number: 'bigint' } },
  sql`
with test as (
  select nextval('webhook_test') number
), added as (
  insert into webhook_list (webhook_id, is_test, from_at, to_at, events)
  select :webhook, true, :at, :at, json_build_array(json_build_object(
    'type', :type, 'sequence', 1, 'at', ${milliseconds(':at')}, 'subjects', json_build_array(number)
  ))
  from test
)
select number, ${wakeIdle} as woken from test`,
)

/**
 * Lists at most `limit` attempts of an endpoint from `offset` on, newest first. If there are none, returns one row with
 * only the total. The attempt that delivered a list is stored in the row of the list itself. For the ordinary
 * connections.
 */
export const listAttempts = statement(
  'list-attempts',
  {
    parameters: { webhook: 'int', offset: 'bigint', limit: 'int' },
    columns: { total: 'int' },
    joined: {
      list: 'bigint',
      tries: 'smallint',
      at: 'timestamptz',
      next: 'timestamptz?',
      verdict: 'int',
      milliseconds: 'int',
      status: 'smallint?',
      failure: nullable(column<PushFailure>('text')),
      retry_after: 'float8?',
      beginning: 'text?',
      events: 'json',
    },
  },
  sql`
select all_of.total, page.*
from (
  select (select count(*) from webhook_attempt where webhook_id = :webhook)::int
    + (select count(*) from webhook_list where webhook_id = :webhook and state = ${LIST_STATE.delivered})::int total
) all_of
left join lateral (
  select attempt.*, (select events from webhook_list where id = attempt.list) events
  from (
    select list_id list, tries, at, next_at next, verdict, milliseconds, status, failure, retry_after, beginning
    from webhook_attempt
    where webhook_id = :webhook
    union all
    select id, tries, due_at, null, ${VERDICT.delivered}, milliseconds, status, null, retry_after, beginning
    from webhook_list
    where webhook_id = :webhook and state = ${LIST_STATE.delivered}
    order by at desc, list desc, tries desc
    offset :offset
    limit :limit
  ) attempt
) page on true
order by page.at desc, page.list desc, page.tries desc`,
)

/** Counts the events and lists that wait for an endpoint, and its dead lists. Runs on the ordinary connections. */
export const backlogOf = statement(
  'webhook-backlog',
  { parameters: { webhook: 'int' }, columns: { events: 'int', lists: 'int', dead: 'int' } },
  sql`
select (select coalesce(sum(count), 0) from webhook_event where webhook_id = :webhook)::int as events,
  (select count(*) from webhook_list where webhook_id = :webhook and state = ${LIST_STATE.open})::int as lists,
  (select count(*) from webhook_list where webhook_id = :webhook and state = ${LIST_STATE.dead})::int as dead`,
)

/**
 * Sums the waiting events and lists of all endpoints by condition, reading at most the first `rowsMax` rows of each
 * kind for one endpoint. Times are in milliseconds. Runs on the ordinary connections. With 1000 endpoints it takes 1 ms
 * if nothing waits, and 70 ms when it reads 100,000 of a million rows with 10,000 open lists and as many dead ones.
 */
export const webhookTotals = statement(
  'webhook-totals',
  {
    parameters: { rowsMax: 'int' },
    columns: {
      condition: column<WebhookCondition>('text'),
      endpoints: 'int',
      events: 'bigint',
      lists: 'bigint',
      dead: 'bigint',
      oldest: nullable(instant),
    },
  },
  sql`
select condition, endpoints, events, lists, dead, ${milliseconds('oldest')} as oldest
from webhook_totals(:rowsMax)`,
)
