import { deadListDays, failingDays } from '@gateway/core'
import { listsPerBatch } from '../webhooks/lists-of-batch.ts'
import { VERDICT, WEBHOOK_STATE } from '../webhooks/webhook-row.ts'
import type { PreparedStatement } from './prepared-statement.ts'

export interface ClaimedRow {
  readonly endpoint: number
  readonly list: number | null
  readonly try: number
  readonly content: string
  /** How many lists of `size` events each are to be cut from the content; null: it is one. */
  readonly pieces: number | null
  readonly size: number | null
}

/**
 * By claimer $1, after endpoint $2, of at most $3 endpoints, at most $4 lists, $5 of one endpoint at a time, or of endpoints $6 $7; $8 seconds. The last
 * row is the endpoint to go on after.
 */
export const claimLists: PreparedStatement<ClaimedRow> = {
  name: 'claim-lists',
  text: 'select * from claim_webhook_lists($1, $2, $3, $4, $5, $6, $7, $8)',
}

/** The batch of a list. */
const batchOf = (list: string): string => `${list} / ${listsPerBatch}`

/** In a form that stays a lookup in a hash table for each row: joins are nested loops here. */
const isIn = (id: string, ids: string): string =>
  `case when ${id} is not null then ${id} in (select id from ${ids}) end`

/** Those of `given` that may be the first that is heard of a list: its batch is leased. */
const fresh = (given: string): string => `
leased as materialized (
  select id from webhook_batch
  where id = any (array(select distinct ${batchOf('id')} from ${given} where tries = 1)) and case when open > 0 then true end
  order by id
  for no key update
), fresh as materialized (
  select ${given}.*, batch.webhook_id, batch.id batch_id
  from ${given}
  join webhook_batch batch on batch.id = any (array[${batchOf(`${given}.id`)}])
  where ${given}.tries = 1 and ${isIn(batchOf(`${given}.id`), 'leased')}
)`

/** The events of lists that were not delivered, which are theirs from then on. */
const cut = (which: string): string => `
cut as materialized (
  select ${listsPerBatch} * batch.id + piece.place id, piece.from_at, piece.to_at, piece.events
  from (select batch_id, array_agg((id % ${listsPerBatch})::int) places from fresh where ${which} group by batch_id order by batch_id) wanted
  join webhook_batch batch on batch.id = any (array[wanted.batch_id])
  cross join lateral cut_webhook_events(batch.events, batch.list_size, wanted.places) piece
)`

/** So many fewer lists are open of each batch. */
const heard = `
update webhook_batch batch
set open = open - heard.lists
from (select ${batchOf('id')} id, count(*)::int lists from heard group by 1 order by 1) heard
where batch.id = any (array[heard.id])`

const stateOf = (isTest: string): string =>
  `case verdict when ${VERDICT.delivered} then 1 when ${VERDICT.dead} then 2 when ${VERDICT.failed} then 4
      when ${VERDICT.gone} then case when ${isTest} then 4 else 0 end else 0 end`

/**
 * What came of tries: $1 lists, $2 numbers of the tries, $3 times, $4 verdicts, $5 times of the next try, $6 milliseconds, $7 statuses, $8 failures,
 * $9 seconds asked for, $10 beginnings of answers. Only of lists that are leased for this try. A list of an endpoint that is gone waits for its return.
 */
export const recordPushes: PreparedStatement<unknown> = {
  name: 'record-pushes',
  text: `
with told as materialized (
  select *
  from unnest($1::bigint[], $2::smallint[], $3::timestamptz[], $4::smallint[], $5::timestamptz[], $6::int[], $7::smallint[], $8::text[],
    $9::float8[], $10::text[]) told(id, tries, at, verdict, next_at, milliseconds, status, failure, retry_after, beginning)
), ${fresh('told')}, ${cut(`verdict <> ${VERDICT.delivered}`)}, heard as (
  insert into webhook_list
    (id, webhook_id, state, tries, due_at, milliseconds, status, retry_after, beginning, from_at, to_at, events)
  select id, webhook_id, ${stateOf('false')}, 1, coalesce(next_at, at), milliseconds, status, retry_after, beginning, from_at, to_at, events
  from fresh
  left join cut using (id)
  on conflict (id) do nothing
  returning id
), fewer as (${heard}
), again as (
  update webhook_list list
  set leased = false, due_at = coalesce(told.next_at, told.at), state = ${stateOf('list.is_test')},
    milliseconds = told.milliseconds, status = told.status, retry_after = told.retry_after, beginning = told.beginning
  from told
  where not ${isIn('told.id', 'heard')} and list.id = any (array[told.id]) and list.tries = told.tries
    and case when list.leased then list.state = 0 end
  returning told.*, list.webhook_id
), changed as (
  select * from again
  union all
  select id, tries, at, verdict, next_at, milliseconds, status, failure, retry_after, beginning, webhook_id
  from fresh
  where ${isIn('id', 'heard')}
), attempts as (
  insert into webhook_attempt
    (list_id, tries, webhook_id, at, milliseconds, status, failure, retry_after, beginning, verdict, next_at)
  select id, tries, webhook_id, at, milliseconds, status, failure, retry_after, beginning, verdict, next_at
  from changed
  where verdict <> ${VERDICT.delivered}
  on conflict (list_id, tries) do nothing
), of_endpoint as (
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
from of_endpoint
where webhook.id = any (array[of_endpoint.webhook_id])
  and (gone or worked = (failing_since is not null) or (not worked and failing_since <= last - interval '${failingDays} days'))`,
}

/** Lists $1, of tries $2, were not tried. */
export const releaseLists: PreparedStatement<unknown> = {
  name: 'release-lists',
  text: `
with given as materialized (
  select * from unnest($1::bigint[], $2::smallint[]) given(id, tries)
), ${fresh('given')}, ${cut('true')}, heard as (
  insert into webhook_list (id, webhook_id, from_at, to_at, events)
  select id, webhook_id, from_at, to_at, events
  from fresh
  join cut using (id)
  on conflict (id) do nothing
  returning id
), again as (
  update webhook_list list
  set leased = false, tries = list.tries - 1, due_at = now()
  from given
  where not ${isIn('given.id', 'heard')} and list.id = any (array[given.id]) and list.tries = given.tries
    and case when list.leased then list.state = 0 end
)${heard}`,
}

/** Lists $1, of tries $2, end as two of their own each, due at once: one has the events $3, the other $4, both as `StoredEvents`. */
export const divideLists: PreparedStatement<unknown> = {
  name: 'divide-lists',
  text: `
with given as materialized (
  select * from unnest($1::bigint[], $2::smallint[], $3::text[], $4::text[]) given(id, tries, one, other)
), ${fresh('given')}, ${cut('true')}, heard as (
  insert into webhook_list (id, webhook_id, state, tries, from_at, to_at, events)
  select id, webhook_id, 4, 1, from_at, to_at, events
  from fresh
  join cut using (id)
  on conflict (id) do nothing
  returning id, webhook_id, from_at, to_at
), again as (
  update webhook_list list
  set leased = false, state = 4, due_at = now()
  from given
  where not ${isIn('given.id', 'heard')} and list.id = any (array[given.id]) and list.tries = given.tries
    and case when list.leased then list.state = 0 end
  returning list.id, webhook_id, from_at, to_at
), parts as (
  insert into webhook_list (id, webhook_id, from_at, to_at, events)
  select ${listsPerBatch} * nextval(pg_get_serial_sequence('webhook_batch', 'id')), webhook_id, from_at, to_at, part.events
  from (select * from heard union all select * from again) divided
  join given using (id)
  cross join lateral (values (one), (other)) part(events)
)${heard}`,
}

/** At most $1 rows of a kind. For the ordinary connections. */
export const purgeWebhooks: PreparedStatement<{ purged: number }> = {
  name: 'purge-webhooks',
  text: `select purge_webhooks($1, ${deadListDays}) as purged`,
}
