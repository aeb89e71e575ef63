import type { BulkRow, BulkSendId, BulkSendState } from '@gateway/core/bulk-sends'
import type { SendOptions } from '@gateway/core/messages'
import { LEDGER } from '../stored-codes.ts'
import { milliseconds } from './arrays.ts'
import { accountId, credits, instant, outcomeCode, senderAddress } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'

// Run these statements on the ordinary connections (`pools.ordinary`).

const bulkSendId = column<BulkSendId>('bigint')

const sendColumns = {
  id: bulkSendId,
  account: accountId,
  state: column<BulkSendState>('text'),
  columns: 'text[]',
  text: 'text',
  scheduled: nullable(instant),
  key: 'text',
  sender: nullable(senderAddress),
  options: nullable(column<SendOptions>('json')),
  revision: 'int',
  created: instant,
  started: nullable(instant),
  recipients: 'bigint',
  repeated: 'bigint',
  calls: 'bigint',
  callsEnded: 'bigint',
  accepted: 'bigint',
  refused: 'bigint',
  isStopped: 'bool',
  failedOver: nullable(instant),
  cost: credits,
} as const

/**
 * SQL that is true if the send was stopped before all rows were handled. Only the last call is read: calls run in
 * order, so a stopped send has refused rows in its last call.
 */
const wasStopped = `case when state = 'ended' and sums.refused > 0 then exists (
    select
    from bulk_send_call last_call
    where last_call.send_id = bulk_send.id and last_call.call = sums.calls - 1
      and jsonb_path_exists(recipients, '$[*] ? (@.refused == "stopped" || @.refused == "failed-over")')
  ) else false end`

/** Columns of a send with the sums over its calls. */
const send = `id, account_id account, state, columns, "text", ${milliseconds('scheduled_at')} scheduled, key, sender, options, revision,
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

export const findBulkSend = statement(
  'find-bulk-send',
  { parameters: { account: 'int', id: 'bigint' }, columns: sendColumns },
  sql`select ${send} from bulk_send ${sums} where account_id = :account and id = :id`,
)

/** Makes a statement that lists bulk sends in these states, latest first. */
const listOf = (name: string, states: string) =>
  statement(
    name,
    { parameters: { account: 'int', before: 'bigint?', limit: 'int' }, columns: sendColumns },
    sql`
select ${send}
from (
  select *
  from bulk_send
  where account_id = :account and id < coalesce(:before, ${Number.MAX_SAFE_INTEGER}) and ${states}
  order by id desc
  limit :limit
) bulk_send
${sums}
order by id desc`,
  )

export const listBulkSends = listOf('list-bulk-sends', `state <> 'draft'`)
export const listBulkDrafts = listOf('list-bulk-drafts', `state = 'draft'`)

/**
 * Counts the messages of a send by outcome; messages without one are waiting. Looks up one range of ids for each run.
 */
export const countBulkOutcomes = statement(
  'count-bulk-outcomes',
  {
    parameters: { account: 'int', id: 'bigint' },
    columns: { code: nullable(outcomeCode), messages: 'bigint' },
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
 * Sums the refunds in the ledger for messages of these sends. A refund names the first message of its text. Reads the
 * account's entries once. The ids of a send form one multirange, in which each entry is looked up.
 */
export const sumReturned = statement(
  'sum-returned',
  {
    parameters: { account: 'int', ids: 'bigint[]' },
    columns: { id: bulkSendId, returned: credits },
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

/** Returns the runs of ids of every bulk send of the account, in their order; runs never overlap. */
export const listBulkRuns = statement(
  'list-bulk-runs',
  {
    parameters: { account: 'int' },
    columns: { id: bulkSendId, lo: 'bigint', hi: 'bigint' },
  },
  sql`
select bulk_send.id, (pair ->> 0)::bigint lo, (pair ->> 1)::bigint hi
from bulk_send
join bulk_send_call on send_id = bulk_send.id
cross join lateral jsonb_array_elements(accepted) pair
where account_id = :account and accepted is not null
order by lo`,
)

export const takeBulkCall = statement(
  'take-bulk-call',
  {
    parameters: { seconds: 'float8', only: 'bigint?' },
    columns: { ...sendColumns, call: 'int', rows: column<readonly BulkRow[]>('json'), ageSeconds: 'float8' },
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

/**
 * Stops all sends in progress, because the lost server may have accepted more rows than this one received (P-5).
 */
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
    columns: { id: bulkSendId, account: accountId, failedOver: instant, rows: 'bigint' },
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
