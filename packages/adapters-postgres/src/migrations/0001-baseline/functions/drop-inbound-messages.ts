// Some thousand rows a step, and the same place again as long as there are more.
export const dropInboundMessages = `
-- Drops some of what no list shows any more and what is remembered no longer. False: there is more.
create function drop_inbound_messages(p_before timestamptz, p_contact_days int, p_seen_seconds int, p_taken_days int) returns bool language plpgsql
set plan_cache_mode = force_custom_plan as $$
declare v_contacts timestamptz := now() - make_interval(days => p_contact_days); v_most int := 0; v_count int;
begin
  with oldest as (
    select id from inbound_message order by id limit 5000
  ), gone as (
    delete from inbound_message message
    using oldest
    where message.id = oldest.id and message.at < p_before
    returning message.account_id, message.at, message.id
  ), gone_offers as (
    delete from inbound_message_offered offered
    using gone
    where offered.account_id = gone.account_id and offered.at = gone.at and offered.inbound_message_id = gone.id
  )
  select count(*) into v_count from gone;
  v_most := greatest(v_most, v_count);
  delete from inbound_message_taken where operation = any (array(
    select operation from inbound_message_taken where at < now() - make_interval(days => p_taken_days) order by at limit 5000
  ));
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  delete from inbound_message_seen where key = any (array(
    select key from inbound_message_seen where at <= now() - make_interval(secs => p_seen_seconds) order by at limit 5000
  )) and at <= now() - make_interval(secs => p_seen_seconds);
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  with oldest as (
    select msisdn, sender from last_contact where at < v_contacts order by at limit 5000
  )
  delete from last_contact contact using oldest
  where contact.msisdn = oldest.msisdn and contact.sender = oldest.sender and contact.at < v_contacts;
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  -- An address that a number knows an account by is forgotten once nobody can answer to it.
  with oldest as (
    select msisdn from chosen_sender where since < v_contacts order by since limit 5000 for update skip locked
  ), judged as (
    select msisdn, exists (select from message where message.msisdn = oldest.msisdn)
      or exists (select from last_contact where last_contact.msisdn = oldest.msisdn) needed
    from oldest
  ), kept as (
    update chosen_sender chosen set since = now() from judged where chosen.msisdn = judged.msisdn and judged.needed
  ), gone as (
    delete from chosen_sender chosen using judged where chosen.msisdn = judged.msisdn and not judged.needed
  )
  select count(*) into v_count from judged;
  return greatest(v_most, v_count) < 5000;
end $$;
`
