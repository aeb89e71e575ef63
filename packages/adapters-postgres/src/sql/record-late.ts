import type { HotStatement } from './hot-statement.ts'

/**
 * Outcomes of every kind, also those that come late. Arguments as for record, but $9 codes: 100, 106, or 111 with its
 * refund; $10 senders. A message that the flight still holds is written; one that recovery called 106, and that nobody has adopted,
 * becomes what it is. Who turns a message to 111 refunds it, so that it is done once. May be run again; ids must differ.
 *
 * A row whose sent_at is not this transaction's time was there before.
 */
export const recordLate: HotStatement<{ recorded: number }> = {
  name: 'record-late',
  text: `
with f as (
  delete from claimed_batch where dispatcher = $1::bigint and seq = any($2::int[]) returning seq
), m as (
  insert into message (id, msisdn, carrier_id, account_id, send_first_id, code, carrier, sender, code_at)
  select u.id, u.msisdn, u.ref, u.account, u.send, u.code, coalesce(h.carrier, 0), u.sender, case when u.code = 111 then now() end
  from (select count(*) from f) ended
  cross join unnest($3::int[], $4::bigint[], $5::bigint[], $6::text[], $7::int[], $8::bigint[], $9::smallint[], $10::int[])
    u(seq, id, msisdn, ref, account, send, code, sender)
  left join lateral (select carrier from claimed_batch where dispatcher = $1::bigint and seq = u.seq and u.id = any(ids)) h on true
  where h.carrier is not null or exists (select from message where id = u.id)
  on conflict (id) do update set code = excluded.code, carrier_id = excluded.carrier_id, code_at = now()
    where message.code = 106 and message.carrier_id is null and excluded.code <> 106
  returning id, account_id, send_first_id, code, sent_at
), v as (
  select m.*, s.price from m cross join lateral (select price from send where first_id = m.send_first_id offset 0) s where m.code = 111
), l as (
  insert into ledger (account_id, kind, amount, send_first_id, why)
  select account_id, 3, sum(price), send_first_id, 'code 111' from v group by account_id, send_first_id
), a as (
  update account set balance = balance + t.amount from (select account_id, sum(price) amount from v group by 1 order by 1) t where account.id = any (array[t.account_id])
), i as (
  insert into incident (message_id, what) select id, case when sent_at <> now() then 'late' else 'unknown' end from m where sent_at <> now() or code = 106
)
select count(*)::int as recorded from m`,
}
