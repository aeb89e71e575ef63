import type { InboundMessageId, InboxPart } from '@gateway/core/inbox'
import { carrierId, messageId, senderAddress } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'

const inboundMessageId = column<InboundMessageId>('bigint')

/** Columns of a message in an inbox. */
export const inboxColumns = {
  id: inboundMessageId,
  from: 'text',
  at: 'timestamptz',
  text: 'text',
  answers: nullable(messageId),
  shortCode: nullable(senderAddress),
} as const

interface Kind {
  /** SQL condition, which is the same as that of a partial index. */
  readonly condition: string
  readonly part: InboxPart
}

/**
 * Makes a statement for each part of an inbox (core's `isIn`). `isToCode` is the condition that a message is addressed
 * to a short code.
 */
const byPart = <T>(isToCode: string, make: (kind: Kind) => T): Readonly<Record<InboxPart, T>> => ({
  all: make({ part: 'all', condition: '' }),
  'short-code': make({ part: 'short-code', condition: `and ${isToCode}` }),
  replies: make({ part: 'replies', condition: `and not (${isToCode})` }),
})

/**
 * Lists messages that the account received since `since`: `limit` messages from `offset` on, oldest first. Returns at
 * least one row, with the total; its other columns are null if there are no messages. Runs on the ordinary connections.
 */
export const listInbox = byPart('short_code is not null', ({ part, condition }) =>
  statement(
    `list-${part}`,
    {
      parameters: { account: 'int', since: 'timestamptz', offset: 'bigint', limit: 'bigint' },
      columns: { total: 'bigint' },
      joined: inboxColumns,
    },
    sql`
with page as (
  select id
  from inbound_message
  where account_id = :account and at >= :since ${condition}
  order by at, id
  offset :offset
  limit :limit
), counted as (
  select count(*) total
  from inbound_message
  where account_id = :account and at >= :since ${condition}
), listed as (
  select id, from_address as "from", at, text, answers,
    (select address from sender where id = short_code) as "shortCode"
  from page
  join inbound_message using (id)
)
select total, listed.*
from counted
left join listed on true
order by at, id`,
  ),
)

/**
 * Claims for an operation at most `messagesMax` messages that the account received since `since` and that no call has
 * claimed, oldest first. Skips messages that a concurrent call has locked. Must not be run again; `putBack` undoes it.
 */
export const takeInbox = byPart('to_code', ({ part, condition }) =>
  statement(
    `take-${part}`,
    {
      parameters: { account: 'int', since: 'timestamptz', messagesMax: 'int', operation: 'uuid' },
      columns: inboxColumns,
    },
    sql`
with picked as materialized (
  select ctid as place
  from inbound_message_offered
  where account_id = :account and at >= :since ${condition}
  order by at, inbound_message_id
  limit :messagesMax
  for update skip locked
), taken as (
  delete from inbound_message_offered
  where ctid = any (array(select place from picked))
  returning inbound_message_id
), noted as (
  insert into inbound_message_taken (operation, account_id, inbound_message_ids)
  select :operation, :account, array_agg(inbound_message_id)
  from taken
  having count(*) > 0
)
select message.id, from_address as "from", at, text, answers,
  (select address from sender where id = message.short_code) as "shortCode"
from taken
cross join lateral (select * from inbound_message where id = taken.inbound_message_id offset 0) message
order by at, message.id`,
  ),
)

/**
 * Releases the messages that the operation has claimed for the account, so that later calls return them. May be run
 * again.
 */
export const putBack = statement(
  'put-back',
  { parameters: { account: 'int', operation: 'uuid' } },
  sql`
with taken as (
  delete from inbound_message_taken
  where operation = :operation and account_id = :account
  returning inbound_message_ids
)
insert into inbound_message_offered (account_id, at, inbound_message_id, to_code)
select message.account_id, message.at, message.id, message.short_code is not null
from taken
cross join lateral unnest(inbound_message_ids) given(id)
cross join lateral (select * from inbound_message where id = given.id offset 0) message`,
)

/**
 * Lists at most `limit` messages without an account, after the message with the id `afterId` that arrived at `after` (a
 * time as text; null starts from the first message).
 */
export const unownedMessages = statement(
  'unowned-messages',
  {
    parameters: { after: 'text?', afterId: 'bigint', limit: 'int' },
    columns: {
      id: inboundMessageId,
      carrier: carrierId,
      from: 'text',
      to: 'text?',
      at: 'timestamptz',
      exactly: 'text',
      text: 'text',
    },
  },
  sql`
select message.id, carrier.name as carrier, from_address as "from", to_address as "to", at, at::text as exactly, text
from inbound_message message
join carrier on carrier.id = message.carrier
where account_id is null and (at, message.id) > (coalesce(:after::timestamptz, '-infinity'), :afterId)
order by at, message.id
limit :limit`,
)
