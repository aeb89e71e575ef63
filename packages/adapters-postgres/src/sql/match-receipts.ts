import { changeableCodes, receiptMatching } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'
import { storeMessageEvents } from './store-events.ts'

const { referenceDays, olderAfterSeconds, keptDays, retrySecondsMax } = receiptMatching
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
with tried as (
  select *
  from unmatched_delivery_receipt
  where next_try <= now()
  order by next_try
  limit $1::int
  for update skip locked
), found as (
  select tried.*, (
    select max(message.id + 0)
    from message
    where message.carrier_id = tried.carrier_id and message.carrier = tried.carrier
      and message.msisdn = coalesce(tried.msisdn, message.msisdn)
      and (message.sent_at > tried.at - interval '${referenceDays} days' or tried.at < now() - interval '${olderAfterSeconds} s')
  ) message_id
  from tried
), counting as (
  select distinct on (message_id) message_id, carrier_id, code, at
  from found
  where message_id is not null
  order by message_id, (code in (${changeable})), case when code in (${changeable}) then -id else id end
), changed as (
  update message
  set code = receipt.code, code_at = receipt.at
  from (select * from counting order by carrier_id collate "C") receipt
  where message.id = any (array[receipt.message_id]) and message.code in (${changeable}) and message.code <> receipt.code
  returning message.id, message.account_id, message.msisdn, message.code, message.code_at as at, message.confirms_opt_out
), ${storeMessageEvents('changed', 'receipt')}, dropped as (
  delete from unmatched_delivery_receipt
  where id = any (array(
    select id from found where message_id is not null or at < now() - interval '${keptDays} days'
  ))
), kept as (
  update unmatched_delivery_receipt
  set tries = tries + 1, next_try = now() + make_interval(secs => least(${retrySecondsMax}, 2 ^ tries))
  where id = any (array(
    select id from found where message_id is null and at >= now() - interval '${keptDays} days'
  ))
)
select count(message_id)::int as found from found`,
}
