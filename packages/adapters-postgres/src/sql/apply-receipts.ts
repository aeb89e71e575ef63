import { changeableCodes, receiptMatching } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'
import { partsOfMessage, setByParts } from './code-by-parts.ts'
import { storeMessageEvents } from './store-events.ts'

const { referenceDays } = receiptMatching
/**
 * Condition of `receipt`: no earlier one that may be of the same message is kept. Otherwise it is kept as well: match-receipts gives the
 * first final one its due (P-7). It takes 0.6 of the 4.6 µs of a receipt, and 1.0 of 5.0 where 100,000 are kept (EXPLAIN).
 */
const isNextOfItsMessage = `not exists (
      select
      from unmatched_delivery_receipt kept
      where kept.carrier_id = receipt.reference and kept.carrier = $3::smallint
        and (kept.msisdn is null or receipt.msisdn is null or kept.msisdn = receipt.msisdn)
    )`

const changeable = changeableCodes.join(', ')

/**
 * Receipts find their messages in one partition: $1 references (in the order of "C"), $2 codes, $3 carrier, $4 numbers (each pair of
 * reference and number once; null fits any). Only what may still change changes. Returns how many of the references did; where it is not all, known-receipts tells which are done
 * with. Carriers use their references again: what is older than 7 days is left to match-receipts, which takes the newest.
 *
 * Receipts of messages that were taken as several parts are left to known-receipts.
 *
 * Cost: 5.5 µs, 121 bytes of log a receipt.
 */
export const applyReceipts = (partition: number): PreparedStatement<{ applied: number }> => ({
  name: `apply-receipts-${partition}`,
  text: `
with changed as (
  update message_p${partition} message
  set code = receipt.code, code_at = now()
  from unnest($1::text[], $2::smallint[], $4::bigint[]) with ordinality receipt(reference, code, msisdn, position)
  where message.carrier_id = any (array[receipt.reference]) and message.carrier = $3::smallint
    and message.msisdn = coalesce(receipt.msisdn, message.msisdn)
    and message.code in (${changeable}) and message.code <> receipt.code and message.parts_undelivered = 0
    and ${isNextOfItsMessage}
    and message.sent_at > now() - interval '${referenceDays} days'
  returning position, id, message.account_id, message.msisdn, message.code, code_at as at, confirms_opt_out,
    send_first_id, true as has_reference
), ${storeMessageEvents('changed', 'receipt')}
select count(distinct position)::int as applied from changed`,
})

/**
 * Of the receipts that apply-receipts did not apply, or of all, those that there is nothing more to do for: their message is final or says the same, or has
 * changed just now; or it was taken as several parts, of which they are now applied to one (core's `codeByParts`). Arguments as above. A message that
 * was born since apply-receipts looked is none of these: its receipt is kept. `written`: by this, so that its commit covers all of them.
 *
 * Cost: 13 µs a receipt of a part with apply-receipts before it, where one of a message of one part took 6 in the same run.
 */
export const knownReceipts = (partition: number): PreparedStatement<{ position: number; written: boolean }> => ({
  name: `known-receipts-${partition}`,
  text: `
with receipts as materialized (
  select *
  from unnest($1::text[], $2::smallint[], $4::bigint[]) with ordinality receipt(reference, code, msisdn, position)
  where ${isNextOfItsMessage}
), parts as (
  update message_part_p${partition} part
  set code = receipt.code, code_at = now()
  from receipts receipt
  where part.carrier_id = any (array[receipt.reference]) and part.carrier = $3::smallint
    and part.msisdn = coalesce(receipt.msisdn, part.msisdn)
    and part.code in (${changeable}) and part.code <> receipt.code
    and part.sent_at > now() - interval '${referenceDays} days'
  returning position, id, part.code
), of_message as (
  ${partsOfMessage('parts')}
), applied as (
  update message_p${partition} message
  set ${setByParts('of_message', 'now()')}
  from of_message
  where message.id = any (array[of_message.id])
  returning message.id, message.account_id, message.msisdn, message.code, code_at as at, confirms_opt_out,
    send_first_id, carrier_id is not null as has_reference
), changed as (
  -- What it was before did not begin in this transaction.
  select * from applied where at = now()
), ${storeMessageEvents('changed', 'receipt')}
select position::int as position, true as written from parts
union all
select position::int, false
from receipts receipt
where exists (
  select
  from message_p${partition} message
  where message.carrier_id = receipt.reference and message.carrier = $3::smallint
    and message.msisdn = coalesce(receipt.msisdn, message.msisdn)
    and (message.code not in (${changeable}) or message.code = receipt.code) and message.parts_undelivered = 0
    and message.sent_at > now() - interval '${referenceDays} days'
) or exists (
  select
  from message_part_p${partition} part
  where part.carrier_id = receipt.reference and part.carrier = $3::smallint
    and part.msisdn = coalesce(receipt.msisdn, part.msisdn)
    and (part.code not in (${changeable}) or part.code = receipt.code)
    and part.sent_at > now() - interval '${referenceDays} days'
)`,
})

/** The newest partition that a message id can lie in, and whether the one before it is there. */
export const newestPartition: PreparedStatement<{ newest: number; before: boolean }> = {
  name: 'newest-partition',
  text: `
select last_value / 500 as newest, to_regclass('message_p' || (last_value / 500 - 1)) is not null as before
from id_block`,
}
