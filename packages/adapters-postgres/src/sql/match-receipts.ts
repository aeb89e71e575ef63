import { changeableCodes, receiptMatching } from '@gateway/core'
import { partsOfMessage, setByParts } from './code-by-parts.ts'
import type { PreparedStatement } from './prepared-statement.ts'
import { storeMessageEvents } from './store-events.ts'

const { referenceDays, olderAfterSeconds, keptDays, retrySecondsMax } = receiptMatching
const changeable = changeableCodes.join(', ')

/** Condition: this row, of a message or a part, is meant by the kept receipt `tried`. */
const isMeant = (row: string): string => `${row}.carrier_id = tried.carrier_id and ${row}.carrier = tried.carrier
      and ${row}.msisdn = coalesce(tried.msisdn, ${row}.msisdn)
      and (${row}.sent_at > tried.at - interval '${referenceDays} days' or tried.at < now() - interval '${olderAfterSeconds} s')`

/** The order in which the receipts of one message or part count: the first final one, else the last (core's `countingReceipt`). */
const byCount = `(code in (${changeable})), case when code in (${changeable}) then -id else id end`

/**
 * Kept receipts whose message is there by now; of one message, or part of one, the first final code wins, so that all of its receipts are tried
 * when one is due. $1 most receipts that are due. Returns how many
 * found one. A message of more than 7 days before the receipt only counts when none has come in ten minutes: the
 * carrier may have used its reference again, for a message that is not recorded yet. What finds nothing is tried again,
 * from after a second to hourly, for 3 days. Messages of several parts are locked before they change: what they were says whether there is an event.
 */
export const matchReceipts: PreparedStatement<{ found: number }> = {
  name: 'match-receipts',
  text: `
with due as (
  select id, carrier, carrier_id
  from unmatched_delivery_receipt
  where next_try <= now()
  order by next_try
  limit $1::int
  for update skip locked
), tried as (
  select receipt.*
  from (select distinct carrier, carrier_id from due) due
  cross join lateral (
    select *
    from unmatched_delivery_receipt kept
    where kept.carrier_id = any (array[due.carrier_id]) and kept.carrier = due.carrier
    for update skip locked
  ) receipt
), found as (
  select tried.*, (
    select max(message.id + 0) from message where ${isMeant('message')} and message.parts_undelivered = 0
  ) message_id, (
    select array[part.id, part.part] from message_part part where ${isMeant('part')} order by part.id + 0 desc limit 1
  ) place
  from tried
), counting as (
  select distinct on (message_id) message_id, carrier_id, code, at
  from found
  where message_id is not null
  order by message_id, ${byCount}
), counting_parts as (
  -- By message and part. No result may be named place: "distinct on" takes the name of a result before that of a column.
  select distinct on (place) place[1] message_id, place[2] part, code, at
  from found
  where message_id is null and place is not null
  order by place, ${byCount}
), changed_whole as (
  update message
  set code = receipt.code, code_at = receipt.at
  from (select * from counting order by carrier_id collate "C") receipt
  where message.id = any (array[receipt.message_id]) and message.code in (${changeable}) and message.code <> receipt.code
  returning message.id, message.account_id, message.msisdn, message.code, message.code_at as at, message.confirms_opt_out,
    message.send_first_id, message.carrier_id is not null as has_reference
), before as materialized (
  select id, code
  from message
  where id = any (array(select message_id from counting_parts))
  order by id
  for update
), parts as (
  update message_part part
  set code = receipt.code, code_at = receipt.at
  from (select counting_parts.* from before join counting_parts on message_id = before.id offset 0) receipt
  where part.id = any (array[receipt.message_id]) and part.part = receipt.part
    and part.code in (${changeable}) and part.code <> receipt.code
  returning part.id, part.code, part.code_at
), of_message as (
  ${partsOfMessage('parts', ', max(code_at) as at')}
), changed_parts as (
  update message
  set ${setByParts('of_message', 'of_message.at')}
  from of_message
  join before using (id)
  where message.id = any (array[of_message.id])
  returning message.id, message.account_id, message.msisdn, message.code, message.code_at as at, message.confirms_opt_out,
    message.send_first_id, message.carrier_id is not null as has_reference, message.code <> before.code is_news
), changed as (
  select * from changed_whole
  union all
  select id, account_id, msisdn, code, at, confirms_opt_out, send_first_id, has_reference from changed_parts where is_news
), ${storeMessageEvents('changed', 'receipt')}, dropped as (
  delete from unmatched_delivery_receipt
  where id = any (array(
    select id
    from found
    where message_id is not null or place is not null or at < now() - interval '${keptDays} days'
  ))
), kept as (
  update unmatched_delivery_receipt
  set tries = tries + 1, next_try = now() + make_interval(secs => least(${retrySecondsMax}, 2 ^ tries))
  where id = any (array(
    select id from found where message_id is null and place is null and at >= now() - interval '${keptDays} days'
  ))
)
select count(*) filter (where message_id is not null or place is not null)::int as found from found`,
}
