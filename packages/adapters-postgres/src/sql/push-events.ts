import { deadListDays, failingDays } from '@gateway/core'
import { VERDICT, WEBHOOK_STATE } from '../webhooks/webhook-row.ts'
import type { PreparedStatement } from './prepared-statement.ts'

export interface ClaimedRow {
  readonly endpoint: number
  readonly list: number | null
  readonly try: number
  readonly content: string
}

/**
 * By claimer $1, after endpoint $2, of at most $3 endpoints, at most $4 lists, $5 of one endpoint at a time, or of endpoints $6 $7; $8 seconds. The last
 * row is the endpoint to go on after.
 */
export const claimLists: PreparedStatement<ClaimedRow> = {
  name: 'claim-lists',
  text: 'select * from claim_webhook_lists($1, $2, $3, $4, $5, $6, $7, $8)',
}

/**
 * What came of tries: $1 lists, $2 numbers of the tries, $3 times, $4 verdicts, $5 times of the next try, $6 milliseconds, $7 statuses, $8 failures,
 * $9 seconds asked for, $10 beginnings of answers. Only of lists that are leased for this try. A list of an endpoint that is gone waits for its return.
 */
export const recordPushes: PreparedStatement<unknown> = {
  name: 'record-pushes',
  text: `
with changed as (
  update webhook_list list
  set leased = false, due_at = coalesce(told.next_at, told.at),
    state = case told.verdict when ${VERDICT.delivered} then 1 when ${VERDICT.dead} then 2 when ${VERDICT.gone} then case when list.is_test then 2 else 0 end else 0 end,
    milliseconds = told.milliseconds, status = told.status, retry_after = told.retry_after, beginning = told.beginning
  from unnest($1::bigint[], $2::smallint[], $3::timestamptz[], $4::smallint[], $5::timestamptz[], $6::int[], $7::smallint[], $8::text[],
    $9::float8[], $10::text[]) told(id, tries, at, verdict, next_at, milliseconds, status, failure, retry_after, beginning)
  where list.id = any (array[told.id]) and list.tries = told.tries
    and case when list.leased then list.state = 0 end
  returning list.id, list.webhook_id, told.tries, told.at, told.verdict, told.next_at, told.milliseconds, told.status, told.failure,
    told.retry_after, told.beginning
), attempts as (
  insert into webhook_attempt
    (list_id, tries, webhook_id, at, milliseconds, status, failure, retry_after, beginning, verdict, next_at)
  select id, tries, webhook_id, at, milliseconds, status, failure, retry_after, beginning, verdict, next_at
  from changed
  where verdict <> ${VERDICT.delivered}
), told as (
  select webhook_id, bool_or(verdict = ${VERDICT.delivered}) worked, bool_or(verdict = ${VERDICT.gone}) gone, min(at) first, max(at) last
  from changed
  group by webhook_id
  order by webhook_id
)
update webhook
set failing_since = case when not worked then coalesce(failing_since, first) end,
  state = case when gone then ${WEBHOOK_STATE.disabled}
    when state = ${WEBHOOK_STATE.active} and not worked and failing_since <= last - interval '${failingDays} days' then ${WEBHOOK_STATE.paused}
    else state end,
  paused_for = case when gone then null
    when state = ${WEBHOOK_STATE.active} and not worked and failing_since <= last - interval '${failingDays} days' then 'failing'
    else paused_for end
from told
where webhook.id = any (array[told.webhook_id])
  and (gone or worked = (failing_since is not null) or (not worked and failing_since <= last - interval '${failingDays} days'))`,
}

/** Lists $1, of tries $2, were not tried. */
export const releaseLists: PreparedStatement<unknown> = {
  name: 'release-lists',
  text: `
update webhook_list list
set leased = false, tries = list.tries - 1, due_at = now()
from unnest($1::bigint[], $2::smallint[]) given(id, tries)
where list.id = any (array[given.id]) and list.tries = given.tries
  and case when list.leased then list.state = 0 end`,
}

/** At most $1 rows of a kind. For the ordinary connections. */
export const purgeWebhooks: PreparedStatement<{ purged: number }> = {
  name: 'purge-webhooks',
  text: `select purge_webhooks($1, ${deadListDays}) as purged`,
}
