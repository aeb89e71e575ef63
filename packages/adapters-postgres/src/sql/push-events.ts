import { deadListDays, failingDays } from '@gateway/core/webhooks'
import { LIST_STATE, VERDICT, WEBHOOK_STATE } from '../stored-codes.ts'
import { sql, statement } from './statement.ts'

const failsTooLong = `not worked and failing_since <= last - interval '${failingDays} days'`

/**
 * Records the results of attempts. Ignores lists that are no longer leased for that attempt. `next` is the time of the
 * next attempt, and `retryAfter` is the number of seconds that the endpoint asked to wait. A list whose endpoint
 * answered 410 Gone stays open until the endpoint is enabled again.
 */
export const recordPushes = statement(
  'record-pushes',
  {
    parameters: {
      lists: 'bigint[]',
      tries: 'smallint[]',
      at: 'timestamptz[]',
      verdicts: 'smallint[]',
      next: 'timestamptz?[]',
      milliseconds: 'int[]',
      statuses: 'smallint?[]',
      failures: 'text?[]',
      retryAfter: 'float8?[]',
      beginnings: 'text?[]',
    },
  },
  sql`
with told as materialized (
  select *
  from unnest(:lists, :tries, :at, :verdicts, :next, :milliseconds,
    :statuses, :failures, :retryAfter, :beginnings)
    told (id, tries, at, verdict, next_at, milliseconds, status, failure, retry_after, beginning)
), changed as (
  update webhook_list list
  set leased = false, due_at = coalesce(told.next_at, told.at), milliseconds = told.milliseconds, status = told.status,
    retry_after = told.retry_after, beginning = told.beginning,
    state = case
      when verdict = ${VERDICT.delivered} then ${LIST_STATE.delivered}
      when verdict = ${VERDICT.dead} then ${LIST_STATE.dead}
      when verdict = ${VERDICT.failed} or (verdict = ${VERDICT.gone} and list.is_test) then ${LIST_STATE.over}
      else ${LIST_STATE.open}
    end
  from told
  where list.id = any (array[told.id]) and list.tries = told.tries and case when list.leased then true end
  returning told.*, list.webhook_id, list.is_test
), attempts as (
  insert into webhook_attempt
    (list_id, tries, webhook_id, at, milliseconds, status, failure, retry_after, beginning, verdict, next_at)
  select id, tries, webhook_id, at, milliseconds, status, failure, retry_after, beginning, verdict, next_at
  from changed
  where verdict <> ${VERDICT.delivered}
  on conflict (list_id, tries) do nothing
), of_endpoint as (
  select webhook_id, bool_or(verdict = ${VERDICT.delivered}) as worked, bool_or(verdict = ${VERDICT.gone}) as gone,
    min(at) as first, max(at) as last
  from changed
  where not (is_test and verdict = ${VERDICT.failed})
  group by webhook_id
  order by webhook_id
)
update webhook
set failing_since = case when not worked then coalesce(failing_since, first) end,
  state = case
    when gone then ${WEBHOOK_STATE.disabled}
    when state = ${WEBHOOK_STATE.active} and ${failsTooLong} then ${WEBHOOK_STATE.paused}
    else state
  end,
  paused_for = case
    when gone then null
    when state = ${WEBHOOK_STATE.active} and ${failsTooLong} then 'failing'
    else paused_for
  end
from of_endpoint
where webhook.id = any (array[of_endpoint.webhook_id])
  and (gone or worked = (failing_since is not null) or (${failsTooLong}))`,
)

/** Returns lists that were claimed for these attempts but not sent. */
export const releaseLists = statement(
  'release-lists',
  { parameters: { lists: 'bigint[]', tries: 'smallint[]' } },
  sql`
update webhook_list list
set leased = false, tries = list.tries - 1, due_at = now()
from unnest(:lists, :tries) given (id, tries)
where list.id = any (array[given.id]) and list.tries = given.tries and case when list.leased then true end`,
)

/**
 * Replaces each list, if it is still leased for this attempt, with two lists that are due at once: one has the events
 * in `ones`, the other those in `others`, both as JSON.
 */
export const divideLists = statement(
  'divide-lists',
  { parameters: { lists: 'bigint[]', tries: 'smallint[]', ones: 'text[]', others: 'text[]' } },
  sql`
with given as materialized (
  select * from unnest(:lists, :tries, :ones::json[], :others::json[]) given (id, tries, one, other)
), divided as (
  update webhook_list list
  set leased = false, state = ${LIST_STATE.over}, due_at = now()
  from given
  where list.id = any (array[given.id]) and list.tries = given.tries and case when list.leased then true end
  returning webhook_id, from_at, to_at, one, other
)
insert into webhook_list (webhook_id, from_at, to_at, events)
select webhook_id, from_at, to_at, events
from divided
cross join lateral (values (one), (other)) part (events)`,
)

/** Deletes old rows of webhooks, at most `rowsMax` of each kind. Runs on the ordinary connections. */
export const purgeWebhooks = statement(
  'purge-webhooks',
  { parameters: { rowsMax: 'int' }, columns: { purged: 'int' } },
  sql`select purge_webhooks(:rowsMax, ${deadListDays}) as purged`,
)
