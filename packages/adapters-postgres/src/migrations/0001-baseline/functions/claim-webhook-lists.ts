import { placeOf } from '../../../webhooks/event-places.ts'
import { WEBHOOK_STATE } from '../../../webhooks/webhook-row.ts'

// As values, not as conditions that become joins with whole tables.
const isActive = `(select state from webhook where id = walk.webhook_id) = ${WEBHOOK_STATE.active}`
const hasRoom = `(
      select count(*) from webhook_list where webhook_id = walk.webhook_id and leased and due_at > now()
    ) < p_per_webhook`

/** The endpoints that have rows of a table, one step of its index each. */
const walk = (table: string, which = ''): string => `(
      select webhook_id from ${table} where webhook_id > p_after${which} order by webhook_id limit 1
    ) union all
    select (
      select webhook_id from ${table} where webhook_id > walk.webhook_id${which} order by webhook_id limit 1
    ) from walk where walk.webhook_id is not null`

// An endpoint is locked before its lists are counted, each in a statement with a snapshot of its own: two that claim at once never give
// it more than its room. Nested loops, whatever the statistics say: queues have none.
export const claimWebhookLists = `
-- Claims lists of endpoints after p_after, an equal share of each: first those due again, then new ones of events that wait. cursor: the
-- last endpoint looked at, or 0 if there was none after it.
create function claim_webhook_lists(p_after int, p_endpoints_max int, p_lists_max int, p_per_webhook int, p_lease_seconds float8,
  out cursor int, out lists text) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_candidates int[]; v_webhook record; v_room int; v_share int; v_id bigint; v_ids bigint[] := '{}';
  v_until timestamptz := now() + make_interval(secs => p_lease_seconds);
begin
  with waiting as (
    with recursive walk as (${walk('webhook_event')})
    select webhook_id from walk where webhook_id is not null and ${isActive} and ${hasRoom} limit p_endpoints_max
  ), again as (
    with recursive walk as (${walk('webhook_list', ' and state = 0')})
    select webhook_id
    from walk
    where webhook_id is not null and ${isActive} and ${hasRoom}
      and (select true from webhook_list where webhook_id = walk.webhook_id and state = 0 and due_at <= now() limit 1)
    limit p_endpoints_max
  ), tests as (
    select webhook_id
    from webhook_list walk
    where webhook_id > p_after and state = 0 and is_test and due_at <= now() and ${hasRoom}
    order by webhook_id
    limit p_endpoints_max
  )
  select array_agg(webhook_id) into v_candidates from (
    select webhook_id
    from (select * from waiting union select * from again union select * from tests) candidate
    order by webhook_id
    limit p_endpoints_max
  ) first;
  v_share := ceil(p_lists_max::float8 / greatest(1, cardinality(v_candidates)));
  cursor := 0;

  for v_webhook in
    select id, state, list_size, with_text from webhook where id = any (v_candidates) order by id for no key update skip locked
  loop
    v_room := least(v_share, p_lists_max - cardinality(v_ids), p_per_webhook - (
      select count(*) from webhook_list where webhook_id = v_webhook.id and leased and due_at > now()
    ));
    cursor := v_webhook.id;
    exit when cardinality(v_ids) >= p_lists_max;
    for v_id in
      with due as (
        select id
        from webhook_list
        where webhook_id = v_webhook.id and state = 0 and due_at <= now() and (v_webhook.state = ${WEBHOOK_STATE.active} or is_test)
        order by due_at
        limit greatest(v_room, 0)
        for update skip locked
      )
      update webhook_list set leased = true, tries = tries + 1, due_at = v_until
      where id = any (array(select id from due))
      returning id
    loop
      v_ids := v_ids || v_id; v_room := v_room - 1;
    end loop;
    while v_room > 0 and v_webhook.state = ${WEBHOOK_STATE.active} loop
      with first as (
        select ctid row_id from webhook_event where webhook_id = v_webhook.id order by id limit v_webhook.list_size for update skip locked
      ), taken as (
        delete from webhook_event where ctid = any (array(select row_id from first)) returning *
      )
      insert into webhook_list (webhook_id, leased, tries, due_at, from_at, to_at, events)
      select v_webhook.id, true, 1, v_until, min(at), max(at), json_agg(json_build_array(
        type, sequence, floor(extract(epoch from at) * 1000)::bigint, subject, code, taken.msisdn, sent.price, sent.has_reference,
        inbound.from_address, inbound.short_code, inbound.answers,
        case when v_webhook.with_text then coalesce(taken.text, sent.body, inbound.text) end
      ) order by taken.id)::text
      from taken
      left join lateral (
        select send.price, message.carrier_id is not null has_reference, send.body
        from message
        cross join lateral (select price, body from send where first_id = message.send_first_id offset 0) send
        where message.id = any (array[taken.subject]) offset 0
      ) sent on type <= ${placeOf('message.sent')}
      left join lateral (
        select from_address, answers, inbound_message.text, (select address from sender where id = inbound_message.short_code) short_code
        from inbound_message
        where id = any (array[taken.subject]) offset 0
      ) inbound on type > ${placeOf('message.sent')}
      having count(*) > 0
      returning id into v_id;
      exit when v_id is null;
      v_ids := v_ids || v_id; v_room := v_room - 1;
    end loop;
  end loop;
  if cardinality(v_candidates) is distinct from p_endpoints_max and cardinality(v_ids) < p_lists_max then cursor := 0; end if;
  select json_agg(json_build_object('id', id, 'webhook', webhook_id, 'tries', tries, 'events', events::json) order by place)::text into lists
  from unnest(v_ids) with ordinality claimed(list_id, place)
  cross join lateral (select * from webhook_list where id = claimed.list_id offset 0) list;
end $$;
`
