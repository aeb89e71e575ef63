import { changeableCodes, receiptMatching } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'

const { referenceDays, olderAfterSeconds, keptDays } = receiptMatching
const changeable = changeableCodes.join(', ')

/**
 * Kept receipts whose message is there by now; of one message the first final code wins. $1 most receipts. Returns how many
 * found one. A message of more than 7 days before the receipt only counts when none has come in ten minutes: the
 * carrier may have used its reference again, for a message that is not recorded yet. What finds nothing is tried again,
 * from after a second to hourly, for 3 days.
 */
export const matchReceipts: PreparedStatement<{ found: number }> = {
  name: 'match-receipts',
  text: `
with o as (
  select * from unmatched_delivery_receipt where next_try <= now() order by next_try limit $1::int for update skip locked
), f as (
  select o.*, (
    select max(m.id + 0) from message m where m.carrier_id = o.carrier_id and m.carrier = o.carrier
      and (m.sent_at > o.at - interval '${referenceDays} days' or o.at < now() - interval '${olderAfterSeconds} s')) message_id from o
), b as (
  select distinct on (message_id) message_id, carrier_id, code, at from f where message_id is not null
  order by message_id, (code in (${changeable})), case when code in (${changeable}) then -f.id else f.id end
), u as (
  update message m set code = b.code, code_at = b.at from (select * from b order by carrier_id collate "C") b
  where m.id = any (array[b.message_id]) and m.code in (${changeable}) and m.code <> b.code
), x as (
  delete from unmatched_delivery_receipt where id = any (array(select id from f where message_id is not null or at < now() - interval '${keptDays} days'))
), y as (
  update unmatched_delivery_receipt set tries = tries + 1, next_try = now() + make_interval(secs => least(3600, 2 ^ tries))
  where id = any (array(select id from f where message_id is null and at >= now() - interval '${keptDays} days'))
)
select count(message_id)::int as found from f`,
}
