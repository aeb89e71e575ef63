import type { UnownedMessage } from '@gateway/core'
import type { RowOf } from '../row-of.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/** What belongs to nobody, after the one that arrived at $1 (null: from the first on) under the id $2: at most $3. */
export const unownedMessages: PreparedStatement<RowOf<UnownedMessage> & { readonly exactly: string }> = {
  name: 'unowned-messages',
  text: `
select message.id, carrier.name as carrier, from_address as "from", to_address as "to", at, at::text as exactly, text
from inbound_message message
join carrier on carrier.id = message.carrier
where account_id is null and (at, message.id) > (coalesce($1::timestamptz, '-infinity'), $2::bigint)
order by at, message.id
limit $3::int`,
}
