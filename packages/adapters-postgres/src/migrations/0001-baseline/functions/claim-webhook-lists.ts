import { otherClaimerSeconds } from '@gateway/core'
import { EVENT_CODE } from '../../../webhooks/event-codes.ts'
import { listsPerBatch } from '../../../webhooks/lists-of-batch.ts'
import { WEBHOOK_STATE } from '../../../webhooks/webhook-row.ts'

/** How many lists of an endpoint may still be claimed: as `Claiming` says. */
const roomOf = (webhook: string): string => `(
      select case
          when count(*) filter (where claimer <> p_claimer) = 0
            then coalesce((select ahead from unnest(p_fast, p_ahead) fast(id, ahead) where fast.id = ${webhook} limit 1), p_per_webhook)
          when bool_or(claimer <> p_claimer and due_at > v_fresh) then 0
          else p_per_webhook
        end - coalesce(sum(lists), 0)
      from (
        select claimer, due_at, 1 lists from webhook_list where webhook_id = ${webhook} and leased and due_at > now()
        union all
        select claimer, due_at, open from webhook_batch where webhook_id = ${webhook} and open > 0 and due_at > now()
      ) claimed
    )`

// As values, not as conditions that become joins with whole tables.
const isActive = `(select state from webhook where id = walk.webhook_id) = ${WEBHOOK_STATE.active}`
const hasRoom = `${roomOf('walk.webhook_id')} > 0`

/** The endpoints that have rows of a table, one step of its index each. */
const walk = (table: string, which = ''): string => `(
      select webhook_id from ${table} where webhook_id > p_after${which} order by webhook_id limit 1
    ) union all
    select (
      select webhook_id from ${table} where webhook_id > walk.webhook_id${which} order by webhook_id limit 1
    ) from walk where walk.webhook_id is not null`

/** No more than the lists that there is room for take. */
const upTo = (numbers: string): string =>
  `case when before + count > v_need then ${numbers}[:v_need - before] else ${numbers} end`

/** The others may be of an inbound message, also those of a type that is not known yet. */
const ofMessages = Object.entries(EVENT_CODE)
  .filter(([type]) => type.startsWith('message.'))
  .map(([, code]) => code)
  .join()

/** The events of a row as `StoredEvents` reads them. Numbers are texts, which is what node pushes: it need not turn each into a number and back. */
const events = `left(json_build_array(
            type, sequence, floor(extract(epoch from at) * 1000)::bigint, code, send_first_id, sent.price, has_reference,
            inbound.from_address, inbound.short_code, inbound.answers,
            case when v_webhook.with_text then coalesce(placed.text, sent.body, inbound.text) end
          )::text, -1)
            || ',[' || array_to_string(${upTo('subjects')}, ',') || '],'
            || coalesce('["' || nullif(array_to_string(${upTo('msisdns')}, '","'), '') || '"]', 'null')
            || case when replay is null then ']' else ',true]' end`

// An endpoint is locked before its lists are counted, each in a statement with a snapshot of its own: two that claim at once never give
// it more than its room. Nested loops, whatever the statistics say: queues have none.
export const claimWebhookLists = `
-- Claims lists of endpoints after p_after, an equal share of each: first those due again, then new ones of events that wait. p_fast are
-- endpoints that may have p_ahead lists. New lists come as one row: the id of the first, with how many there are and their size. The last
-- row has no list, but the last endpoint looked at, or 0 if there was none after it.
create function claim_webhook_lists(p_claimer int, p_after int, p_endpoints_max int, p_lists_max int, p_per_webhook int, p_fast int[],
  p_ahead int[], p_lease_seconds float8)
returns table (endpoint int, list bigint, try smallint, content text, pieces int, size int) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_candidates int[]; v_webhook record; v_batch record; v_room int; v_need int; v_rows int; v_share int; v_lists int := 0; v_last int := 0;
  v_until timestamptz := now() + make_interval(secs => p_lease_seconds);
  v_fresh timestamptz := v_until - interval '${otherClaimerSeconds} s';
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
  ), expired as (
    with recursive walk as (${walk('webhook_batch', ' and open > 0')})
    select webhook_id
    from walk
    where webhook_id is not null and ${isActive}
      and (select true from webhook_batch where webhook_id = walk.webhook_id and open > 0 and due_at <= now() limit 1)
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
    from (select * from waiting union select * from again union select * from expired union select * from tests) candidate
    order by webhook_id
    limit p_endpoints_max
  ) first;
  v_share := ceil(p_lists_max::float8 / greatest(1, cardinality(v_candidates)));

  for v_webhook in
    select id, state, list_size, with_text from webhook where id = any (v_candidates) order by id for no key update skip locked
  loop
    if (select true from webhook_batch where webhook_id = v_webhook.id and open > 0 and due_at <= now() limit 1) then
      perform reopen_webhook_lists(v_webhook.id);
    end if;
    v_room := least(v_share, p_lists_max - v_lists, ${roomOf('v_webhook.id')});
    v_last := v_webhook.id;
    exit when v_lists >= p_lists_max;
    continue when v_room <= 0;
    return query
      with due as (
        select id
        from webhook_list
        where webhook_id = v_webhook.id and state = 0 and due_at <= now() and (v_webhook.state = ${WEBHOOK_STATE.active} or is_test)
        order by due_at
        limit v_room
        for update skip locked
      )
      update webhook_list set leased = true, claimer = p_claimer, tries = tries + 1, due_at = v_until
      where id = any (array(select id from due))
      returning webhook_id, id, tries, events, null::int, null::int;
    get diagnostics v_rows = row_count;
    v_lists := v_lists + v_rows; v_room := v_room - v_rows;
    while v_room > 0 and v_webhook.state = ${WEBHOOK_STATE.active} loop
      v_need := least(v_room, ${listsPerBatch}) * v_webhook.list_size;
      with first as (
        select ctid row_id, id, count from webhook_event where webhook_id = v_webhook.id order by id limit 200
      ), wanted as (
        select row_id from (select row_id, sum(count) over (order by id) - count before from first) first where before < v_need
      ), taken as (
        delete from webhook_event where ctid = any (array(select row_id from wanted)) returning *
      ), placed as (
        select *, sum(count) over (order by id) - count before from taken
      ), rest as (
        insert into webhook_event
          (id, webhook_id, type, sequence, at, code, send_first_id, has_reference, text, count, subjects, msisdns, replay)
        overriding system value
        select id, webhook_id, type, sequence, at, code, send_first_id, has_reference, text, before + count - v_need,
          subjects[v_need - before + 1:], msisdns[v_need - before + 1:], replay
        from placed
        where before + count > v_need
      ), told as (
        select before, count, at, ${events} events
        from placed
        left join lateral (select price, body from send where first_id = send_first_id offset 0) sent on true
        left join lateral (
          select from_address, answers, inbound_message.text, (select address from sender where id = inbound_message.short_code) short_code
          from inbound_message
          where id = any (case when type not in (${ofMessages}) then array[subjects[1]] end) offset 0
        ) inbound on true
      ), batch as (
        select ceil(least(max(before + count), v_need)::float8 / v_webhook.list_size)::int lists, min(at) from_at, max(at) to_at,
          '[' || string_agg(told.events, ',' order by before) || ']' events
        from told
        having count(*) > 0
      )
      insert into webhook_batch (webhook_id, claimer, due_at, list_size, lists, open, from_at, to_at, events)
      select v_webhook.id, p_claimer, v_until, v_webhook.list_size, lists, lists, from_at, to_at, events from batch
      returning id, lists, events into v_batch;
      exit when not found;
      v_lists := v_lists + v_batch.lists; v_room := v_room - v_batch.lists;
      return query select v_webhook.id, ${listsPerBatch} * v_batch.id, 1::smallint, v_batch.events, v_batch.lists, v_webhook.list_size;
    end loop;
  end loop;
  if cardinality(v_candidates) is distinct from p_endpoints_max and v_lists < p_lists_max then v_last := 0; end if;
  return query select v_last, null::bigint, null::smallint, null::text, null::int, null::int;
end $$;
`
