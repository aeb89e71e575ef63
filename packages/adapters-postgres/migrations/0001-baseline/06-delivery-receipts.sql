create table unmatched_delivery_receipt (         -- delivery receipts that found no message yet
  id bigint generated always as identity primary key,
  carrier smallint not null,
  carrier_id text not null,
  code smallint not null,
  msisdn bigint,                                  -- this and the next as the delivery receipt tells them
  submitted_at timestamptz,
  at timestamptz not null default now(),
  next_try timestamptz not null default now(),
  tries int not null default 0
);
create index unmatched_delivery_receipt_next_try on unmatched_delivery_receipt (next_try);
create index unmatched_delivery_receipt_carrier_id on unmatched_delivery_receipt (carrier_id);

create table unread_delivery_receipt (            -- delivery receipts that could not be read, the last 10,000
  id bigint generated always as identity primary key,
  carrier text not null,
  carrier_id text,                                -- null: none was found
  msisdn bigint,                                  -- null: the delivery receipt tells none
  text text not null,
  pdu bytea not null,                             -- as it came
  is_message bool not null default false,         -- a message of a person that is no text, and no receipt
  at timestamptz not null default now()
);

create table unknown_reference (                  -- what carriers called unknown, of a day: each is asked for it once
  carrier smallint not null,
  carrier_id text not null,
  at timestamptz not null default now(),
  asked bool not null default false,
  primary key (carrier, carrier_id)
);
create index unknown_reference_not_asked on unknown_reference (carrier, at) where not asked;

-- One at a time: two that ran together could each give a message the reference that the other had judged to be the only
-- one. The rule is core's `adoptions`; a contract proves over generated cases that this agrees with it. Nested loops,
-- whatever the statistics say: by index, only as much is read as there are unmatched delivery receipts.
-- Unknown messages get the references of unmatched delivery receipts at least p_age_seconds old, where exactly as many
-- as a message has parts fit it and nothing else. The times within which they fit, and how long a reference is not used
-- again, are the caller's. So that no index is used for it, "has no reference" is an expression.
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
        and code = 106 /* OUTCOME.unknown */ and (message.carrier_id || '') is null
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
    where message.id = any (array[whole.id]) and message.code = 106 /* OUTCOME.unknown */
      and (message.carrier_id || '') is null
    returning message.id, message.msisdn, message.sent_at, message.carrier, carrier_ids
  ), parts as (
    insert into message_part (id, part, msisdn, sent_at, carrier, code, carrier_id)
    select id, part, msisdn, sent_at, carrier, 100 /* OUTCOME.sent */, reference
    from adopted
    cross join lateral unnest(carrier_ids) with ordinality x(reference, part)
    where cardinality(carrier_ids) > 1
  ), incidents as (
    insert into incident (message_id, what) select id, 'adopted' /* INCIDENT.adopted */ from adopted
  ), tried_now as (
    update unmatched_delivery_receipt
    set next_try = now()
    where id = any (array(select unnest(receipts) from certain where certain.id in (select id from adopted)))
  )
  select count(*) into v_adopted from adopted;
  return v_adopted;
end $$;
