import type { SentCount, SentMessage } from '@gateway/core'
import { OUTCOME } from '@gateway/core'
import type { RowOf } from '../row-of.ts'
import { milliseconds } from './arrays.ts'
import { rows, sql, statement } from './statement.ts'

const sentColumns = rows<RowOf<SentMessage>>({
  id: 'bigint',
  number: 'text',
  text: 'text',
  parts: 'smallint',
  accepted: 'bigint',
  scheduled: 'bigint',
  cost: 'int',
  reference: 'text',
  from: 'text',
})

const ofSend = `body "text", parts, ${milliseconds('created_at')} accepted, ${milliseconds('scheduled_at')} scheduled,
  price "cost", (select address from sender where sender.id = send.sender) "from"`

/**
 * The `limit` latest messages that the account sent from `since` on; with `after` those that come after this one of
 * the account. For the ordinary connections. Reads no more sends than messages are asked for, by `send_account`, and of
 * each no more numbers.
 */
export const listSent = statement(
  'list-sent',
  {
    parameters: { account: 'int', after: 'bigint?', since: 'timestamptz', until: 'timestamptz?', limit: 'int' },
    columns: sentColumns,
  },
  sql`
with last as materialized (
  select created_at, first_id
  from send
  where :after is not null and first_id <= :after and first_id >= :after / 10000 * 10000
  order by first_id desc
  limit 1
), bound as materialized (
  select last.created_at, last.first_id
  from last
  join send using (first_id)
  where :after < first_id + n and account_id = :account
  union all
  select coalesce(:until, 'infinity'), 0 where :after is null
), latest as materialized (
  select send.*
  from bound
  cross join lateral (
    select *
    from send
    where account_id = :account and not confirms_opt_out and send.created_at >= :since
      and (send.created_at, send.first_id) <= (bound.created_at, bound.first_id)
    order by send.created_at desc, send.first_id desc
    limit :limit + 1
  ) send
)
select first_id + place - 1 id, msisdns[place]::text number, ${ofSend}, client_references[place] reference
from latest send
cross join lateral (
  select place
  from generate_series(least(n, coalesce(:after, ${Number.MAX_SAFE_INTEGER}) - first_id)::int, 1, -1) place
  limit :limit
) numbered
order by created_at desc, first_id desc, place desc
limit :limit`,
)

/** A message of the account. No row: it has no such message. */
export const findSent = statement(
  'find-sent',
  { parameters: { account: 'int', message: 'bigint' }, columns: sentColumns },
  sql`
select :message id, msisdns[:message - first_id + 1]::text number, ${ofSend},
  client_references[:message - first_id + 1] reference
from (
  select *
  from send
  where first_id <= :message and first_id >= :message / 10000 * 10000
  order by first_id desc
  limit 1
) send
where :message < first_id + n and account_id = :account and not confirms_opt_out`,
)

/**
 * How many of the account's `messagesMax` latest messages since then have which code, and what they cost. Those that
 * are not decided wait. For the ordinary connections: a range of ids is looked up for each send.
 */
export const countSent = statement(
  'count-sent',
  {
    parameters: { account: 'int', since: 'timestamptz', messagesMax: 'int' },
    columns: rows<RowOf<SentCount>>({ code: 'smallint', messages: 'bigint', cost: 'bigint' }),
  },
  sql`
with latest as (
  select first_id, n, price, (sum(n) over (order by created_at desc, first_id desc) - n)::bigint before
  from (
    select first_id, n, price, created_at
    from send
    where account_id = :account and not confirms_opt_out and created_at >= :since
    order by created_at desc, first_id desc
    limit :messagesMax
  ) send
), counted as materialized (
  select first_id + greatest(0, before + n - :messagesMax) lo, first_id + n hi, price
  from latest
  where before < :messagesMax
), decided as materialized (
  select message.code, price, not refunded and (carrier_id is not null or code = ${OUTCOME.unknown}) paid
  from counted
  cross join lateral (
    select code, refunded, carrier_id from message where id >= counted.lo and id < counted.hi offset 0
  ) message
), waiting as (
  select (select coalesce(sum(hi - lo), 0) from counted) - (select count(*) from decided) messages,
    (select coalesce(sum((hi - lo) * price), 0) from counted) - (select coalesce(sum(price), 0) from decided) "cost"
)
select code, count(*) messages, coalesce(sum(price) filter (where paid), 0)::bigint "cost"
from decided
group by code
union all
select null, messages::bigint, cost::bigint from waiting where messages > 0
order by code nulls last`,
)
