import { INCIDENT, OUTCOME } from '@gateway/core/messages'
import { sql } from '../sql/statement.ts'

/**
 * Gives unknown messages the references of unmatched delivery receipts that are at least `p_age_seconds` old. A message
 * gets references only if exactly as many fit as the message has parts, and if they fit no other message. Returns the
 * number of messages. The caller sets the times within which a reference fits, and how long a reference is not used
 * again. Calls run one at a time, because two concurrent calls could each adopt a reference that the other one had
 * found to be unique. The rule is core's `adoptions`; a contract compares both over generated cases. The plan uses
 * nested loops, so that only as much is read as there are unmatched receipts. "Has no reference" is an expression, so
 * that no index is used for it.
 */
export const adoptDeliveryReceipts = sql`
create or replace function adopt_delivery_receipts(p_age_seconds float8, p_before_submitted_seconds float8,
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
    where msisdn is not null and named_message_id is null and not exists (
      select
      from message
      where message.carrier_id = any (array[receipt.carrier_id]) and message.carrier = receipt.carrier
        and message.sent_at > receipt.at - make_interval(days => p_reference_days)
    ) and not exists (
      select
      from message_part part
      where part.carrier_id = any (array[receipt.carrier_id]) and part.carrier = receipt.carrier
        and part.sent_at > receipt.at - make_interval(days => p_reference_days)
    )
    group by carrier, carrier_id, msisdn
  ), fits as (
    select strangers.*, fitting.id, fitting.send_first_id,
      count(*) over (partition by strangers.carrier, strangers.carrier_id) per_reference,
      count(*) over (partition by fitting.id) per_message
    from strangers
    cross join lateral (
      select id, send_first_id
      from message
      where msisdn = strangers.msisdn and carrier = strangers.carrier
        and code = ${OUTCOME.unknown} and (message.carrier_id || '') is null
        and sent_at > coalesce(
          strangers.submitted_at - make_interval(secs => p_before_submitted_seconds),
          strangers.at - make_interval(secs => p_before_receipt_seconds)
        )
        and sent_at < coalesce(strangers.submitted_at, strangers.at) + make_interval(secs => p_after_seconds) offset 0
    ) fitting
  ), certain as materialized (
    select *
    from fits
    where per_reference = 1 and at <= now() - make_interval(secs => p_age_seconds)
      and (carrier, msisdn) not in (select carrier, msisdn from in_flight)
  ), whole as (
    select certain.id, array_agg(carrier_id order by at, carrier_id collate "C") carrier_ids
    from certain
    cross join lateral (select parts from send where first_id = certain.send_first_id offset 0) send
    group by certain.id, per_message, send.parts
    having count(*) = per_message and per_message = send.parts
  ), adopted as (
    update message
    set carrier_id = carrier_ids[1], parts_undelivered = case cardinality(carrier_ids) when 1 then 0
      else cardinality(carrier_ids) end
    from whole
    where message.id = any (array[whole.id]) and message.code = ${OUTCOME.unknown}
      and (message.carrier_id || '') is null
    returning message.id, message.msisdn, message.sent_at, message.carrier, carrier_ids
  ), parts as (
    insert into message_part (id, part, msisdn, sent_at, carrier, code, carrier_id)
    select id, part, msisdn, sent_at, carrier, ${OUTCOME.sent}, reference
    from adopted
    cross join lateral unnest(carrier_ids) with ordinality x(reference, part)
    where cardinality(carrier_ids) > 1
  ), incidents as (
    insert into incident (message_id, what) select id, '${INCIDENT.adopted}' from adopted
  ), tried_now as (
    update unmatched_delivery_receipt
    set next_try = now()
    where id = any (array(select unnest(receipts) from certain where certain.id in (select id from adopted)))
  )
  select count(*) into v_adopted from adopted;
  return v_adopted;
end $$;
`
