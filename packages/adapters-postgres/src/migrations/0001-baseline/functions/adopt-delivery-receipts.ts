// One at a time: two that ran together could each give a message the reference that the other had judged to be the only one.
// The rule is core's `adoptions`; a contract proves over generated cases that this agrees with it. Nested loops, whatever the statistics say: by index, only as much is read as there are unmatched delivery receipts.
export const adoptDeliveryReceipts = `
-- Unknown messages get the references of unmatched delivery receipts at least p_age_seconds old, where exactly one fits exactly one.
-- The times within which they fit, and how long a reference is not used again, are the caller's. So that no index is used for it, "has no reference" is an expression.
create function adopt_delivery_receipts(p_age_seconds float8, p_before_submitted_seconds float8,
  p_before_receipt_seconds float8, p_after_seconds float8, p_reference_days int) returns int language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare v_adopted int;
begin
  perform pg_advisory_xact_lock('unmatched_delivery_receipt'::regclass::oid::bigint);
  with w as materialized (
    select f.carrier, s.msisdns[t.id - s.first_id + 1] msisdn
    from claimed_batch f cross join lateral unnest(f.ids[:f.marked]) with ordinality t(id, n)
    cross join lateral (select first_id, msisdns from send where first_id = coalesce(f.send_first_ids[t.n], f.send_first_ids[1]) offset 0) s
    where t.id is not null and not exists (select from message m where m.id = any (array[t.id]))
  ), o as (
    select carrier, carrier_id, msisdn, min(submitted_at) submitted_at, min(at) at, array_agg(id) receipts from unmatched_delivery_receipt r
    where msisdn is not null
      and not exists (select from message m where m.carrier_id = any (array[r.carrier_id]) and m.carrier = r.carrier and m.sent_at > r.at - make_interval(days => p_reference_days))
    group by 1, 2, 3
  ), c as (
    select o.*, m.id, count(*) over (partition by o.carrier, o.carrier_id) per_receipt, count(*) over (partition by m.id) per_message
    from o cross join lateral (
      select id from message where msisdn = o.msisdn and carrier = o.carrier and code = 106 and (carrier_id || '') is null
        and sent_at > coalesce(o.submitted_at - make_interval(secs => p_before_submitted_seconds), o.at - make_interval(secs => p_before_receipt_seconds))
        and sent_at < coalesce(o.submitted_at, o.at) + make_interval(secs => p_after_seconds) offset 0
    ) m
  ), g as (
    select * from c where per_receipt = 1 and per_message = 1 and at <= now() - make_interval(secs => p_age_seconds)
      and (carrier, msisdn) not in (select carrier, msisdn from w)
  ), u as (
    update message m set carrier_id = g.carrier_id from g where m.id = any (array[g.id]) and m.code = 106 and (m.carrier_id || '') is null
    returning m.id, g.receipts
  ), i as (
    insert into incident (message_id, what) select id, 'adopted' from u
  ), n as (
    update unmatched_delivery_receipt set next_try = now() where id = any (array(select unnest(receipts) from u))
  )
  select count(*) into v_adopted from u;
  return v_adopted;
end $$;
`
