import { refund } from './charge-and-refund.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * What a fenced dispatcher learns of messages that it had submitted: the carrier did not take them. $1 ids. Only a 106 that
 * nobody has adopted changes to 111, so that it is refunded once; may be run again. (`carrier_id` stands in an expression:
 * otherwise the planner may look for all that have none.) Cost: 11 µs, 100 bytes of log a message.
 */
export const refuseLate: PreparedStatement<{ id: number }> = {
  name: 'refuse-late',
  text: `
with refused as (
  update message
  set code = 111, code_at = now()
  from unnest($1::bigint[]) late(id)
  where message.id = any (array[late.id]) and code = 106 and (carrier_id || '') is null
  returning message.id, send_first_id, account_id, code
), refunds as (
  select refused.*, send.price amount
  from refused
  cross join lateral (select price from send where first_id = refused.send_first_id offset 0) send
), ${refund('refunds')}, incidents as (
  insert into incident (message_id, what) select id, 'late' from refused
)
select id from refunds`,
}
