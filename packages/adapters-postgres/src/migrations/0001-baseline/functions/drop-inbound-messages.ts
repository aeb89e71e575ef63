// Some thousand rows a step, and the same place again as long as there are more.
export const dropInboundMessages = `
-- Drops some of what no list shows any more and what is remembered no longer. False: there is more.
create function drop_inbound_messages(p_before timestamptz, p_contact_days int, p_seen_seconds int, p_taken_days int) returns bool language plpgsql
set plan_cache_mode = force_custom_plan as $$
declare v_contacts timestamptz := now() - make_interval(days => p_contact_days); v_most int := 0; v_count int;
begin
  with o as (
    select id from inbound_message order by id limit 5000
  ), d as (
    delete from inbound_message a using o where a.id = o.id and a.at < p_before returning a.account_id, a.at, a.id
  ), x as (
    delete from inbound_message_offered f using d where f.account_id = d.account_id and f.at = d.at and f.inbound_message_id = d.id
  )
  select count(*) into v_count from d;
  v_most := greatest(v_most, v_count);
  with o as (select operation from inbound_message_taken where at < now() - make_interval(days => p_taken_days) order by at limit 5000)
  delete from inbound_message_taken t using o where t.operation = o.operation;
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  with o as (select key from inbound_message_seen where at <= now() - make_interval(secs => p_seen_seconds) order by at limit 5000)
  delete from inbound_message_seen s using o where s.key = o.key and s.at <= now() - make_interval(secs => p_seen_seconds);
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  with o as (select msisdn, sender from last_contact where at < v_contacts order by at limit 5000)
  delete from last_contact l using o where l.msisdn = o.msisdn and l.sender = o.sender and l.at < v_contacts;
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  -- An address that a number knows an account by is forgotten once nobody can answer to it.
  with o as (
    select msisdn from chosen_sender where since < v_contacts order by since limit 5000 for update skip locked
  ), u as (
    select msisdn, exists (select from message m where m.msisdn = o.msisdn) or exists (select from last_contact l where l.msisdn = o.msisdn) needed from o
  ), k as (
    update chosen_sender c set since = now() from u where c.msisdn = u.msisdn and u.needed
  ), d as (
    delete from chosen_sender c using u where c.msisdn = u.msisdn and not u.needed
  )
  select count(*) into v_count from u;
  return greatest(v_most, v_count) < 5000;
end $$;
`
