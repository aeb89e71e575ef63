import type { InboxMessage } from '@gateway/core'
import type { RowOf } from '../row-of.ts'
import { byPart } from './by-part.ts'

/**
 * What account $1 was sent since $2: $4 messages from $3 on, oldest first. Always at least one row, with the total; the rest of it is
 * null where there are no messages. For the ordinary connections.
 */
export const listInbox = byPart<RowOf<InboxMessage> & { readonly total: number }>(
  (part, condition) => ({
    name: `list-${part}`,
    text: `
with page as (
  select id
  from inbound_message
  where account_id = $1::int and at >= $2::timestamptz ${condition}
  order by at, id
  offset $3::bigint
  limit $4::bigint
), counted as (
  select count(*) total
  from inbound_message
  where account_id = $1::int and at >= $2::timestamptz ${condition}
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
  }),
  'short_code is not null',
)
