import { inboxColumns } from './inbox.ts'
import { sql, statement } from './statement.ts'

const message = `id, from_address "from", at, text, answers,
  (select address from sender where sender.id = short_code) "shortCode"`

/**
 * Makes a statement that lists conversations: all of them, or those with unread messages. Each of the two has an index
 * of its own. Runs on the ordinary connections.
 */
const listOf = (name: string, condition: string) =>
  statement(
    name,
    {
      parameters: { account: 'int', since: 'timestamptz', before: 'bigint?', limit: 'int' },
      columns: { unread: 'bigint', ...inboxColumns },
    },
    sql`
select conversation.unread, message.*
from (
  select last_id, arrived - read unread
  from conversation
  where account_id = :account and last_id < coalesce(:before, ${Number.MAX_SAFE_INTEGER}) and last_at >= :since ${condition}
  order by last_id desc
  limit :limit
) conversation
cross join lateral (select ${message} from inbound_message where id = conversation.last_id offset 0) message
order by message.id desc`,
  )

export const listConversations = listOf('list-conversations', '')
export const listUnread = listOf('list-unread', 'and arrived > read')

/**
 * Lists at most `limit` messages from a number since `since` and before the id `before`, latest first. Each row has the
 * counts of arrived and read messages; without a message there is one row with only these counts.
 */
export const findConversation = statement(
  'find-conversation',
  {
    parameters: { account: 'int', from: 'text', since: 'timestamptz', before: 'bigint?', limit: 'int' },
    columns: { arrived: 'bigint', read: 'bigint' },
    joined: inboxColumns,
  },
  sql`
select conversation.arrived, conversation.read, message.*
from conversation
left join lateral (
  select ${message}
  from inbound_message
  where account_id = :account and from_address = :from and at >= :since
    and id < coalesce(:before, ${Number.MAX_SAFE_INTEGER})
  order by id desc
  limit :limit
) message on true
where account_id = :account and from_address = :from and last_at >= :since
order by message.id desc`,
)

/** Sets how many messages of a conversation were read: never fewer than before, never more than arrived. */
export const markRead = statement(
  'mark-read',
  { parameters: { account: 'int', from: 'text', arrived: 'bigint' } },
  sql`
update conversation set read = least(arrived, :arrived)
where account_id = :account and from_address = :from and read < least(arrived, :arrived)`,
)

export const countUnread = statement(
  'count-unread',
  { parameters: { account: 'int', since: 'timestamptz', most: 'int' }, columns: { unread: 'bigint' } },
  sql`
select count(*) unread
from (
  select from conversation where account_id = :account and arrived > read and last_at >= :since limit :most
) counted`,
)
