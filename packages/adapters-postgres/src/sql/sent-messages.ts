import { sameSendMinutes, type SendOptions } from '@gateway/core/messages'
import { instant, messageId, messagePrice, messageReference, msisdn, senderAddress } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'
import { milliseconds } from './arrays.ts'
import { sendOptions } from './send-options.ts'

const sentColumns = {
  id: messageId,
  number: msisdn,
  text: 'text',
  parts: 'smallint',
  accepted: instant,
  scheduled: nullable(instant),
  options: column<SendOptions>('json'),
  cost: messagePrice,
  reference: nullable(messageReference),
  from: nullable(senderAddress),
} as const

const columnsOfSend = `body "text", parts, ${milliseconds('created_at')} accepted, ${milliseconds('scheduled_at')} scheduled,
  ${sendOptions},
  price "cost", (select address from sender where sender.id = send.sender) "from"`

/**
 * Lists the `limit` latest messages that the account sent from `since` on, or with `after` the messages that follow
 * this message in the list. Runs on the ordinary connections. Reads at most `limit` sends, by the index `send_account`,
 * and at most `limit` numbers of each.
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
select first_id + place - 1 id, msisdns[place]::text number, ${columnsOfSend}, client_references[place] reference
from latest send
cross join lateral (
  select place
  from generate_series(least(n, coalesce(:after, ${Number.MAX_SAFE_INTEGER}) - first_id)::int, 1, -1) place
  limit :limit
) numbered
order by created_at desc, first_id desc, place desc
limit :limit`,
)

/** Finds a message of the account. Returns no row if the account has no such message. */
export const findSent = statement(
  'find-sent',
  { parameters: { account: 'int', message: 'bigint' }, columns: sentColumns },
  sql`
select :message id, msisdns[:message - first_id + 1]::text number, ${columnsOfSend},
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
 * Sums the account's latest large send. Calls with at least `numbersMin` recipients belong to it if they were made in
 * the `sameSendMinutes` up to the latest such call and are among the account's latest 500 calls. Returns no row if
 * there is no such call since `since`.
 */
export const lastSend = statement(
  'last-send',
  {
    parameters: { account: 'int', since: 'timestamptz', numbersMin: 'int' },
    columns: { accepted: instant, messages: 'bigint', optedOut: 'bigint' },
  },
  sql`
with large as materialized (
  select first_id, n, created_at, max(created_at) over () latest
  from (
    select first_id, n, created_at
    from send
    where account_id = :account and created_at >= :since and not confirms_opt_out
    order by created_at desc, first_id desc
    limit 500
  ) send
  where n >= :numbersMin
), its as materialized (
  select first_id, n, created_at from large where created_at > latest - interval '${sameSendMinutes} minutes'
)
select ${milliseconds('min(created_at)')} accepted, sum(n)::bigint messages, (
  select count(*)
  from opt_out_reply reply
  where account_id = :account and since >= (select min(created_at) from its)
    and exists (select from its where answers >= first_id and answers < first_id + n)
) "optedOut"
from its
having count(*) > 0`,
)
