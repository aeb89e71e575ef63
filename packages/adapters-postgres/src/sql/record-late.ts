import { refund } from './charge-and-refund.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Outcomes of every kind, also those that come late. Arguments as for record, but $9 codes: 100, 106, or 111 with its
 * refund; $10 senders, $11 whether it confirms an opt-out. A message that the batch still holds is written; one that recovery called 106, and that nobody has adopted,
 * becomes what it is. Who turns a message to 111 refunds it, so that it is done once. May be run again; ids must differ.
 *
 * A row whose sent_at is not this transaction's time was there before.
 */
export const recordLate: PreparedStatement<{ recorded: number }> = {
  name: 'record-late',
  text: `
with finished as (
  delete from claimed_batch where dispatcher = $1::bigint and seq = any ($2::int[]) returning seq
), changed as (
  insert into message (id, msisdn, carrier_id, account_id, send_first_id, code, carrier, sender, confirms_opt_out, code_at)
  select outcome.id, msisdn, reference, account_id, send_first_id, code, coalesce(batch.carrier, 0), sender, confirms_opt_out,
    case when code = 111 then now() end
  from (select count(*) from finished) ended
  cross join unnest($3::int[], $4::bigint[], $5::bigint[], $6::text[], $7::int[], $8::bigint[], $9::smallint[], $10::int[], $11::bool[])
    outcome(seq, id, msisdn, reference, account_id, send_first_id, code, sender, confirms_opt_out)
  left join lateral (
    select carrier from claimed_batch where dispatcher = $1::bigint and seq = outcome.seq and outcome.id = any (ids)
  ) batch on true
  where batch.carrier is not null or exists (select from message where id = outcome.id)
  on conflict (id) do update set code = excluded.code, carrier_id = excluded.carrier_id, code_at = now()
  where message.code = 106 and message.carrier_id is null and excluded.code <> 106
  returning id, account_id, send_first_id, code, sent_at
), refunds as (
  select changed.*, send.price amount
  from changed
  cross join lateral (select price from send where first_id = changed.send_first_id offset 0) send
  where changed.code = 111
), ${refund('refunds')}, incidents as (
  insert into incident (message_id, what)
  select id, case when sent_at <> now() then 'late' else 'unknown' end
  from changed
  where sent_at <> now() or code = 106
)
select count(*)::int as recorded from changed`,
}
