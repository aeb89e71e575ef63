import { INCIDENT, OUTCOME } from '@gateway/core'

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
  with in_flight as materialized (
    select batch.carrier, send.msisdns[claimed.id - send.first_id + 1] msisdn
    from claimed_batch batch
    cross join lateral unnest(batch.ids[:batch.marked]) with ordinality claimed(id, position)
    cross join lateral (
      select first_id, msisdns
      from send
      where first_id = coalesce(batch.send_first_ids[position], batch.send_first_ids[1]) offset 0
    ) send
    where claimed.id is not null and not exists (select from message where message.id = any (array[claimed.id]))
  ), strangers as (
    select carrier, carrier_id, msisdn, min(submitted_at) submitted_at, min(at) at, array_agg(id) receipts
    from unmatched_delivery_receipt receipt
    where msisdn is not null and not exists (
      select
      from message
      where message.carrier_id = any (array[receipt.carrier_id]) and message.carrier = receipt.carrier
        and message.sent_at > receipt.at - make_interval(days => p_reference_days)
    )
    group by carrier, carrier_id, msisdn
  ), fits as (
    select strangers.*, fitting.id,
      count(*) over (partition by strangers.carrier, strangers.carrier_id) per_reference,
      count(*) over (partition by fitting.id) per_message
    from strangers
    cross join lateral (
      select id
      from message
      where msisdn = strangers.msisdn and carrier = strangers.carrier
        and code = ${OUTCOME.unknown} and (message.carrier_id || '') is null
        and sent_at > coalesce(
          strangers.submitted_at - make_interval(secs => p_before_submitted_seconds),
          strangers.at - make_interval(secs => p_before_receipt_seconds)
        )
        and sent_at < coalesce(strangers.submitted_at, strangers.at) + make_interval(secs => p_after_seconds) offset 0
    ) fitting
  ), certain as (
    select *
    from fits
    where per_reference = 1 and per_message = 1 and at <= now() - make_interval(secs => p_age_seconds)
      and (carrier, msisdn) not in (select carrier, msisdn from in_flight)
  ), adopted as (
    update message
    set carrier_id = certain.carrier_id
    from certain
    where message.id = any (array[certain.id]) and message.code = ${OUTCOME.unknown} and (message.carrier_id || '') is null
    returning message.id, certain.receipts
  ), incidents as (
    insert into incident (message_id, what) select id, '${INCIDENT.adopted}' from adopted
  ), tried_now as (
    update unmatched_delivery_receipt
    set next_try = now()
    where id = any (array(select unnest(receipts) from adopted))
  )
  select count(*) into v_adopted from adopted;
  return v_adopted;
end $$;
`
