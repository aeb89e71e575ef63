import { INCIDENT, OUTCOME } from '@gateway/core'
import { refund } from './charge-and-refund.ts'
import { setMarks } from './mark.ts'
import type { PreparedStatement } from './prepared-statement.ts'
import { storeMessageEvents } from './store-events.ts'

/**
 * Outcomes of every kind, also those that come late. Arguments as for record, but $14 codes of each message: 100, 106, or 111 with its
 * refund, or 213 of what a carrier has in part. $15 to $18 as for record-parts. A message that its batch still holds is written; another one becomes what it is where core's `isLateTruth` says so. Who turns a
 * message to 111 refunds it, so that it is done once. May be run again; ids must differ.
 *
 * A row whose sent_at is not this transaction's time was there before.
 */
export const recordLate: PreparedStatement<{ marked: number }> = {
  name: 'record-late',
  text: `
with finished as (
  delete from claimed_batch where dispatcher = $1::bigint and seq = any ($2::int[]) returning seq
), changed as (
  insert into message (id, msisdn, carrier_id, code, parts_undelivered, account_id, send_first_id, sender, confirms_opt_out, carrier, code_at)
  select outcome.id, outcome.msisdn, outcome.reference, outcome.code, outcome.parts,
    ($8::int[])[position], ($9::bigint[])[position], ($10::int[])[position], ($11::bool[])[position],
    coalesce(batch.carrier, 0),
    case when outcome.code = ${OUTCOME.refused} then now() end
  from (select count(*) from finished) ended
  cross join unnest($3::int[], $4::bigint[], $5::bigint[], $6::text[], $14::smallint[], $15::smallint[])
    outcome(position, id, msisdn, reference, code, parts)
  left join lateral (
    select carrier
    from claimed_batch
    where dispatcher = $1::bigint and seq = ($7::int[])[position] and outcome.id = any (ids)
  ) batch on true
  where batch.carrier is not null or exists (select from message where id = outcome.id)
  on conflict (id) do update set code = excluded.code, carrier_id = excluded.carrier_id, code_at = now(),
    parts_undelivered = excluded.parts_undelivered
  where message.code = ${OUTCOME.unknown} and message.carrier_id is null and excluded.code <> ${OUTCOME.unknown}
  returning id, account_id, send_first_id, code, sent_at, carrier, msisdn, confirms_opt_out, now() as at,
    carrier_id is not null as has_reference, refunded
), carriers as materialized (
  select jsonb_object_agg(id, carrier) by_id from changed
), parts as (
  insert into message_part (id, part, msisdn, carrier, code, carrier_id)
  select id, part, ($5::bigint[])[place], (by_id ->> id::text)::smallint, ${OUTCOME.sent}, reference
  from carriers
  cross join lateral (
    select ($4::bigint[])[place] id, place, part, reference
    from unnest($16::int[], $17::smallint[], $18::text[]) of_message(place, part, reference)
  ) part
  where by_id ? id::text
), refunds as (
  select changed.*, send.price amount
  from changed
  cross join lateral (select price from send where first_id = changed.send_first_id offset 0) send
  where changed.code = ${OUTCOME.refused} and not changed.refunded
), ${refund('refunds')}, incidents as (
  insert into incident (message_id, what)
  select id, case when sent_at <> now() then '${INCIDENT.late}' else '${INCIDENT.unknown}' end
  from changed
  where sent_at <> now() or code = ${OUTCOME.unknown}
), ${storeMessageEvents('changed', 'handover')}, ${setMarks('$12', '$13')}
select count(*)::int as marked from marks`,
}
