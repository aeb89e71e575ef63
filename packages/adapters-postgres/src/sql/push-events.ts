import { deadListDays, failingDays } from '@gateway/core'
import { LIST_STATE, VERDICT, WEBHOOK_STATE } from '../stored-codes.ts'
import type { PreparedStatement } from './prepared-statement.ts'

const failsTooLong = `not worked and failing_since <= last - interval '${failingDays} days'`

/**
 * What came of tries: $1 lists, $2 numbers of the tries, $3 times, $4 verdicts, $5 times of the next try, $6
 * milliseconds, $7 statuses, $8 failures, $9 seconds asked for, $10 beginnings of answers. Only of lists that are
 * leased for this try. A list of an endpoint that is gone waits for its return.
 */
export const recordPushes: PreparedStatement<unknown> = {
  name: 'record-pushes',
  text: `
with told as materialized (
  select *
  from unnest($1::bigint[], $2::smallint[], $3::timestamptz[], $4::smallint[], $5::timestamptz[], $6::int[],
    $7::smallint[], $8::text[], $9::float8[], $10::text[])
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
  returning told.*, list.webhook_id
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
}

/** Lists $1, of tries $2, were not tried. */
export const releaseLists: PreparedStatement<unknown> = {
  name: 'release-lists',
  text: `
update webhook_list list
set leased = false, tries = list.tries - 1, due_at = now()
from unnest($1::bigint[], $2::smallint[]) given (id, tries)
where list.id = any (array[given.id]) and list.tries = given.tries and case when list.leased then true end`,
}

/** Lists $1, of tries $2, end as two of their own each, due at once: one has the events $3, the other $4. */
export const divideLists: PreparedStatement<unknown> = {
  name: 'divide-lists',
  text: `
with given as materialized (
  select * from unnest($1::bigint[], $2::smallint[], $3::json[], $4::json[]) given (id, tries, one, other)
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
}

/** At most $1 rows of a kind. For the ordinary connections. */
export const purgeWebhooks: PreparedStatement<{ purged: number }> = {
  name: 'purge-webhooks',
  text: `select purge_webhooks($1, ${deadListDays}) as purged`,
}
