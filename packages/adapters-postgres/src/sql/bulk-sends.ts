import type { BulkSendState, OutcomeCount } from '@gateway/core/bulk-sends'
import { rows, sql, statement, type RowOf } from './statement.ts'
import { LEDGER } from '../stored-codes.ts'
import { milliseconds } from './arrays.ts'

// These statements are for the ordinary connections.

export interface BulkSendRow {
  readonly id: number
  readonly account: number
  readonly state: BulkSendState
  readonly columns: readonly string[]
  readonly text: string
  readonly scheduled: number | null
  readonly key: string
  readonly created: number
  readonly started: number | null
  readonly recipients: number
  readonly repeated: number
  readonly calls: number
  readonly callsEnded: number
  readonly accepted: number
  readonly refused: number
  readonly isStopped: boolean
  readonly failedOver: number | null
  readonly cost: number
}

const sendTypes = {
  id: 'bigint',
  account: 'int',
  state: 'text',
  columns: 'text[]',
  text: 'text',
  scheduled: 'bigint',
  key: 'text',
  created: 'bigint',
  started: 'bigint',
  recipients: 'bigint',
  repeated: 'bigint',
  calls: 'bigint',
  callsEnded: 'bigint',
  accepted: 'bigint',
  refused: 'bigint',
  isStopped: 'bool',
  failedOver: 'bigint',
  cost: 'bigint',
} as const
const sendColumns = rows<BulkSendRow>(sendTypes)

/** Calls begin in their order, so that a stop which left any row left the last call. Reads the rows of that one. */
const wasStopped = `case when state = 'ended' and sums.refused > 0 then exists (
    select
    from bulk_send_call last_call
    where last_call.send_id = bulk_send.id and last_call.call = sums.calls - 1
      and jsonb_path_exists(recipients, '$[*] ? (@.refused == "stopped" || @.refused == "failed-over")')
  ) else false end`

/** Columns of a send with the sums over its calls. */
const send = `id, account_id account, state, columns, "text", ${milliseconds('scheduled_at')} scheduled, key,
  ${milliseconds('created_at')} created, ${milliseconds('started_at')} started, sums.*, ${wasStopped} "isStopped",
  ${milliseconds('failed_over_at')} "failedOver"`

const sums = `cross join lateral (
  select coalesce(sum(count), 0)::bigint recipients, coalesce(sum(repeated), 0)::bigint repeated, count(*) calls,
    count(accepted) "callsEnded", coalesce(sum(messages), 0)::bigint accepted,
    coalesce(sum(count - messages) filter (where accepted is not null), 0)::bigint refused,
    coalesce(sum(cost), 0)::bigint "cost"
  from bulk_send_call
  where send_id = bulk_send.id
) sums`

export const addBulkSend = statement(
  'add-bulk-send',
  {
    parameters: { account: 'int', columns: 'text[]', text: 'text', scheduled: 'timestamptz?', key: 'text' },
    columns: { id: 'bigint' },
  },
  sql`
insert into bulk_send (account_id, columns, text, scheduled_at, key)
values (:account, :columns, :text, :scheduled, :key)
returning id`,
)

export const addBulkCall = statement(
  'add-bulk-call',
  { parameters: { send: 'bigint', call: 'int', recipients: 'text', count: 'int', repeated: 'int' } },
  sql`
insert into bulk_send_call (send_id, call, recipients, count, repeated)
values (:send, :call, :recipients::jsonb, :count, :repeated)`,
)

export const findBulkSend = statement(
  'find-bulk-send',
  { parameters: { account: 'int', id: 'bigint' }, columns: sendColumns },
  sql`select ${send} from bulk_send ${sums} where account_id = :account and id = :id`,
)

export const listBulkSends = statement(
  'list-bulk-sends',
  { parameters: { account: 'int', before: 'bigint?', limit: 'int' }, columns: sendColumns },
  sql`
select ${send}
from (
  select *
  from bulk_send
  where account_id = :account and id < coalesce(:before, ${Number.MAX_SAFE_INTEGER}) and state <> 'draft'
  order by id desc
  limit :limit
) bulk_send
${sums}
order by id desc`,
)

export const listBulkDrafts = statement(
  'list-bulk-drafts',
  { parameters: { account: 'int', before: 'bigint?', limit: 'int' }, columns: sendColumns },
  sql`
select ${send}
from (
  select *
  from bulk_send
  where account_id = :account and id < coalesce(:before, ${Number.MAX_SAFE_INTEGER}) and state = 'draft'
  order by id desc
  limit :limit
) bulk_send
${sums}
order by id desc`,
)

export const discardBulkSend = statement(
  'discard-bulk-send',
  { parameters: { account: 'int', id: 'bigint' }, columns: { id: 'bigint' } },
  sql`delete from bulk_send where account_id = :account and id = :id and state = 'draft' returning id`,
)

export const changeBulkSend = statement(
  'change-bulk-send',
  {
    parameters: { account: 'int', id: 'bigint', text: 'text', scheduled: 'timestamptz?' },
    columns: { id: 'bigint' },
  },
  sql`
update bulk_send
set text = :text, scheduled_at = :scheduled
where account_id = :account and id = :id and state = 'draft'
returning id`,
)

export const readBulkCall = statement(
  'read-bulk-call',
  {
    parameters: { account: 'int', id: 'bigint', call: 'int' },
    columns: { recipients: 'json', accepted: 'json' },
  },
  sql`
select recipients, accepted
from bulk_send
join bulk_send_call on send_id = id
where account_id = :account and id = :id and call = :call`,
)

/**
 * Counts the messages of a send by outcome; messages without one are waiting. Looks up one range of ids for each run.
 */
export const countBulkOutcomes = statement(
  'count-bulk-outcomes',
  {
    parameters: { account: 'int', id: 'bigint' },
    columns: rows<RowOf<OutcomeCount>>({ code: 'smallint', messages: 'bigint' }),
  },
  sql`
with run as materialized (
  select (pair ->> 0)::bigint lo, (pair ->> 1)::bigint hi
  from bulk_send
  join bulk_send_call on send_id = id
  cross join lateral jsonb_array_elements(accepted) pair
  where account_id = :account and id = :id and accepted is not null
), decided as materialized (
  select message.code
  from run
  cross join lateral (select code from message where message.id >= lo and message.id <= hi offset 0) message
), waiting as (
  select ((select coalesce(sum(hi - lo + 1), 0) from run) - (select count(*) from decided))::bigint messages
)
select code, count(*) messages from decided group by code
union all
select null, messages from waiting where messages > 0
order by code nulls last`,
)

/**
 * Sums what the ledger says was returned for messages of these sends: a refund names the first message of its text.
 * Reads the account's entries once; the ids of a send are one multirange, in which each entry is looked up.
 */
export const sumReturned = statement(
  'sum-returned',
  {
    parameters: { account: 'int', ids: 'bigint[]' },
    columns: { id: 'bigint', returned: 'bigint' },
  },
  sql`
with messages as materialized (
  select id, range_agg(int8range((pair ->> 0)::bigint, (pair ->> 1)::bigint, '[]')) ids
  from bulk_send
  join bulk_send_call on send_id = id
  cross join lateral jsonb_array_elements(accepted) pair
  where account_id = :account and id = any (:ids) and accepted is not null
  group by id
), refund as materialized (
  select send_first_id, sum(amount) amount
  from ledger
  where account_id = :account and kind = ${LEDGER.refund} and send_first_id is not null
    and send_first_id >= (select min(lower(ids)) from messages)
  group by send_first_id
)
select id, sum(amount)::bigint returned
from messages
join refund on ids @> send_first_id
group by id`,
)

/** Returns the runs of ids of every send in bulk of the account, in their order; runs never overlap. */
export const listBulkRuns = statement(
  'list-bulk-runs',
  {
    parameters: { account: 'int' },
    columns: { id: 'bigint', lo: 'bigint', hi: 'bigint' },
  },
  sql`
select bulk_send.id, (pair ->> 0)::bigint lo, (pair ->> 1)::bigint hi
from bulk_send
join bulk_send_call on send_id = bulk_send.id
cross join lateral jsonb_array_elements(accepted) pair
where account_id = :account and accepted is not null
order by lo`,
)

/** Changes the state of a send. Returns no row if the send is in another state or does not exist. */
export const moveBulkSend = statement(
  'move-bulk-send',
  {
    parameters: { account: 'int', id: 'bigint', from: 'text', to: 'text' },
    columns: { id: 'bigint' },
  },
  sql`
update bulk_send
set state = :to, due_at = now(), started_at = coalesce(started_at, now())
where account_id = :account and id = :id and state = :from
returning id`,
)

export interface TakenCallRow extends BulkSendRow {
  readonly call: number
  readonly rows: unknown
  readonly ageSeconds: number
}

export const takeBulkCall = statement(
  'take-bulk-call',
  {
    parameters: { seconds: 'float8', only: 'bigint?' },
    columns: rows<TakenCallRow>({ ...sendTypes, call: 'int', rows: 'json', ageSeconds: 'float8' }),
  },
  sql`
with next as (
  select id due_id
  from bulk_send
  where state in ('running', 'stopping') and due_at <= now() and (:only is null or id = :only)
  order by due_at, id
  limit 1
  for update skip locked
), bulk_send as (
  update bulk_send
  set due_at = now() + make_interval(secs => :seconds)
  from next
  where id = due_id
  returning bulk_send.*
)
select ${send}, first.call, first.recipients "rows",
  extract(epoch from now() - coalesce(started_at, now()))::float8 "ageSeconds"
from bulk_send
${sums}
cross join lateral (
  select call, recipients
  from bulk_send_call
  where send_id = bulk_send.id and accepted is null
  order by call
  limit 1
) first`,
)

/** Stops the sends that are worked on, because their lost server may have accepted more rows than arrived (P-5). */
export const failOverBulkSends = statement(
  'fail-over-bulk-sends',
  { parameters: {}, columns: { sends: 'bigint' } },
  sql`
with stopped as (
  update bulk_send
  set state = 'stopping', due_at = now(), failed_over_at = date_trunc('milliseconds', now())
  where state in ('running', 'stopping')
  returning id
)
select count(*) sends from stopped`,
)

/** Lists sends that promotions stopped, the latest first. */
export const listFailedOverSends = statement(
  'list-failed-over-sends',
  {
    parameters: { days: 'int' },
    columns: { id: 'bigint', account: 'int', failedOver: 'bigint', rows: 'bigint' },
  },
  sql`
select id, account_id account, ${milliseconds('failed_over_at')} "failedOver", open.rows
from bulk_send
cross join lateral (
  select coalesce(sum(case when accepted is null then count else jsonb_array_length(
    jsonb_path_query_array(recipients, '$[*] ? (@.refused == "failed-over")')
  ) end), 0)::bigint rows
  from bulk_send_call
  where send_id = bulk_send.id
) open
where failed_over_at > now() - make_interval(days => :days)
order by id desc
limit 1000`,
)

export const postponeBulkSend = statement(
  'postpone-bulk-send',
  { parameters: { id: 'bigint', seconds: 'float8' } },
  sql`update bulk_send set due_at = now() + make_interval(secs => :seconds) where id = :id`,
)

/** Locks a send, so that of its last two calls the one that ends later sees that no call is left. */
export const lockBulkSend = statement(
  'lock-bulk-send',
  { parameters: { id: 'bigint' }, columns: { id: 'bigint' } },
  sql`select id from bulk_send where id = :id for update`,
)

export const endBulkCall = statement(
  'end-bulk-call',
  {
    parameters: { id: 'bigint', call: 'int', recipients: 'text', accepted: 'text', messages: 'int', cost: 'int' },
    columns: { call: 'int' },
  },
  sql`
with ended as (
  update bulk_send_call
  set recipients = :recipients::jsonb, accepted = :accepted::jsonb, messages = :messages, cost = :cost
  where send_id = :id and call = :call and accepted is null
  returning call
), sent as (
  update bulk_send
  set due_at = now(), state = case when exists (
    select from bulk_send_call where send_id = :id and call <> :call and accepted is null
  ) then state else 'ended' end
  from ended
  where id = :id
)
select call from ended`,
)
