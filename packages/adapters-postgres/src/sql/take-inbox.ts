import type { InboxMessage } from '@gateway/core'
import type { RowOf } from '../row-of.ts'
import { byPart } from './by-part.ts'

/**
 * Takes for operation $4 what account $1 was sent since $2 and has not been taken: the oldest first, at most $3; what another call takes
 * at this moment is left to it. Never run again: put-back undoes it.
 */
export const takeInbox = byPart<RowOf<InboxMessage>>(
  (part, condition) => ({
    name: `take-${part}`,
    text: `
with picked as materialized (
  select ctid as place
  from inbound_message_offered
  where account_id = $1::int and at >= $2::timestamptz ${condition}
  order by at, inbound_message_id
  limit $3::int
  for update skip locked
), taken as (
  delete from inbound_message_offered
  where ctid = any (array(select place from picked))
  returning inbound_message_id
), noted as (
  insert into inbound_message_taken (operation, account_id, inbound_message_ids)
  select $4::uuid, $1::int, array_agg(inbound_message_id)
  from taken
  having count(*) > 0
)
select message.id, from_address as "from", at, text, answers,
  (select address from sender where id = message.short_code) as "shortCode"
from taken
cross join lateral (select * from inbound_message where id = taken.inbound_message_id offset 0) message
order by at, message.id`,
  }),
  'to_code',
)
