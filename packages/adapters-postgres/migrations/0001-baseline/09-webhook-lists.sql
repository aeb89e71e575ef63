-- The lists p_wanted, from 0, of p_size events each, that are cut from events as webhook_batch has them. Lists beyond
-- the end are not there.
create function cut_webhook_events(p_events text, p_size int, p_wanted int[])
returns table (place int, from_at timestamptz, to_at timestamptz, events text) language sql stable as $$
  with stored as materialized (
    select nr, to_timestamp((one ->> 2)::bigint / 1000.0) at, json_array_length(one -> 11) count,
      sum(json_array_length(one -> 11)) over (order by nr) - json_array_length(one -> 11) before,
      left(json_build_array(one -> 0, one -> 1, one -> 2, one -> 3, one -> 4, one -> 5, one -> 6, one -> 7, one -> 8,
        one -> 9, one -> 10)::text, -1) common,
      case when one -> 13 is null then ']' else ',true]' end tail,
        array(select json_array_elements_text(one -> 11)) subjects,
      case when json_typeof(one -> 12) = 'array' then array(select json_array_elements_text(one -> 12)) end numbers
    from json_array_elements(p_events::json) with ordinality stored(one, nr)
  ), parts as (
    select place, nr, at, common || ',[' || array_to_string(subjects[lo:hi],
      ',') || '],' || coalesce('["' || array_to_string(numbers[lo:hi], '","') || '"]', 'null') || tail part
    from stored
    cross join lateral (
      select place, (place::bigint * p_size - before + 1)::int lo, ((place + 1)::bigint * p_size - before)::int hi
      from generate_series((before / p_size)::int, ((before + count - 1) / p_size)::int) place
      where place = any (p_wanted)
    ) piece
  )
  select place, min(at), max(at), '[' || string_agg(part, ',' order by nr) || ']' from parts group by place
$$;

-- Lists of batches of endpoint p_webhook whose lease is over and of which nothing has come are open, and due.
create function reopen_webhook_lists(p_webhook int) returns void language sql
set enable_hashjoin = off set enable_mergejoin = off as $$
  with expired as (
    select id, due_at, list_size, lists, events from webhook_batch
    where webhook_id = p_webhook and open > 0 and due_at <= now()
    for update skip locked
  ), reopened as (
    insert into webhook_list (id, webhook_id, tries, due_at, from_at, to_at, events)
    select 10000 * expired.id + place, p_webhook, 1, due_at, cut.from_at, cut.to_at, cut.events
    from expired
    cross join lateral cut_webhook_events(events, list_size, array(
      select place from generate_series(0, lists - 1) place
      where (select true from webhook_list where id = 10000 * expired.id + place) is null
    )) cut
    on conflict (id) do nothing
  )
  update webhook_batch set open = 0 where id = any (array(select id from expired))
$$;

-- An endpoint is locked before its lists are counted, each in a statement with a snapshot of its own: two that claim at
-- once never give it more than its room. Nested loops, whatever the statistics say: queues have none.
-- Claims lists of endpoints after p_after, an equal share of each: first those due again, then new ones of events that
-- wait. p_fast are endpoints that may have p_ahead lists. New lists come as one row: the id of the first, with how many
-- there are and their size. The last row has no list, but the last endpoint looked at, or 0 if there was none after it.
create function claim_webhook_lists(p_claimer int, p_after int, p_endpoints_max int, p_lists_max int, p_per_webhook int,
  p_fast int[], p_ahead int[], p_lease_seconds float8)
returns table (endpoint int, list bigint, try smallint, content text, pieces int, size int) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
declare
  v_candidates int[]; v_webhook record; v_batch record; v_room int; v_need int; v_rows int; v_share int;
  v_lists int := 0; v_last int := 0;
  v_until timestamptz := now() + make_interval(secs => p_lease_seconds);
  v_fresh timestamptz := v_until - interval '5 s';
begin
  with waiting as (
    with recursive walk as ((
      select webhook_id from webhook_event where webhook_id > p_after order by webhook_id limit 1
    ) union all
    select (
      select webhook_id from webhook_event where webhook_id > walk.webhook_id order by webhook_id limit 1
    ) from walk where walk.webhook_id is not null)
    select webhook_id from walk where webhook_id is not null and (select state from webhook
      where id = walk.webhook_id) = 0 and (
      select case
          when count(*) filter (where claimer <> p_claimer) = 0
            then coalesce((select ahead from unnest(p_fast, p_ahead) fast(id, ahead) where fast.id = walk.webhook_id
              limit 1), p_per_webhook)
          when bool_or(claimer <> p_claimer and due_at > v_fresh) then 0
          else p_per_webhook
        end - coalesce(sum(lists), 0)
      from (
        select claimer, due_at, 1 lists from webhook_list where webhook_id = walk.webhook_id and leased
          and due_at > now()
        union all
        select claimer, due_at, open from webhook_batch where webhook_id = walk.webhook_id and open > 0
          and due_at > now()
      ) claimed
    ) > 0 limit p_endpoints_max
  ), again as (
    with recursive walk as ((
      select webhook_id from webhook_list where webhook_id > p_after and state = 0 order by webhook_id limit 1
    ) union all
    select (
      select webhook_id from webhook_list where webhook_id > walk.webhook_id and state = 0 order by webhook_id limit 1
    ) from walk where walk.webhook_id is not null)
    select webhook_id
    from walk
    where webhook_id is not null and (select state from webhook where id = walk.webhook_id) = 0 and (
      select case
          when count(*) filter (where claimer <> p_claimer) = 0
            then coalesce((select ahead from unnest(p_fast, p_ahead) fast(id, ahead) where fast.id = walk.webhook_id
              limit 1), p_per_webhook)
          when bool_or(claimer <> p_claimer and due_at > v_fresh) then 0
          else p_per_webhook
        end - coalesce(sum(lists), 0)
      from (
        select claimer, due_at, 1 lists from webhook_list where webhook_id = walk.webhook_id and leased
          and due_at > now()
        union all
        select claimer, due_at, open from webhook_batch where webhook_id = walk.webhook_id and open > 0
          and due_at > now()
      ) claimed
    ) > 0
      and (select true from webhook_list where webhook_id = walk.webhook_id and state = 0 and due_at <= now() limit 1)
    limit p_endpoints_max
  ), expired as (
    with recursive walk as ((
      select webhook_id from webhook_batch where webhook_id > p_after and open > 0 order by webhook_id limit 1
    ) union all
    select (
      select webhook_id from webhook_batch where webhook_id > walk.webhook_id and open > 0 order by webhook_id limit 1
    ) from walk where walk.webhook_id is not null)
    select webhook_id
    from walk
    where webhook_id is not null and (select state from webhook where id = walk.webhook_id) = 0
      and (select true from webhook_batch where webhook_id = walk.webhook_id and open > 0 and due_at <= now() limit 1)
    limit p_endpoints_max
  ), tests as (
    select webhook_id
    from webhook_list walk
    where webhook_id > p_after and state = 0 and is_test and due_at <= now() and (
      select case
          when count(*) filter (where claimer <> p_claimer) = 0
            then coalesce((select ahead from unnest(p_fast, p_ahead) fast(id, ahead) where fast.id = walk.webhook_id
              limit 1), p_per_webhook)
          when bool_or(claimer <> p_claimer and due_at > v_fresh) then 0
          else p_per_webhook
        end - coalesce(sum(lists), 0)
      from (
        select claimer, due_at, 1 lists from webhook_list where webhook_id = walk.webhook_id and leased
          and due_at > now()
        union all
        select claimer, due_at, open from webhook_batch where webhook_id = walk.webhook_id and open > 0
          and due_at > now()
      ) claimed
    ) > 0
    order by webhook_id
    limit p_endpoints_max
  )
  select array_agg(webhook_id) into v_candidates from (
    select webhook_id
    from (select * from waiting union select * from again union select * from expired union select *
      from tests) candidate
    order by webhook_id
    limit p_endpoints_max
  ) first;
  v_share := ceil(p_lists_max::float8 / greatest(1, cardinality(v_candidates)));

  for v_webhook in
    select id, state, list_size, with_text from webhook where id = any (v_candidates)
      order by id for no key update skip locked
  loop
    if (select true from webhook_batch where webhook_id = v_webhook.id and open > 0 and due_at <= now() limit 1) then
      perform reopen_webhook_lists(v_webhook.id);
    end if;
    v_room := least(v_share, p_lists_max - v_lists, (
      select case
          when count(*) filter (where claimer <> p_claimer) = 0
            then coalesce((select ahead from unnest(p_fast, p_ahead) fast(id, ahead) where fast.id = v_webhook.id
              limit 1), p_per_webhook)
          when bool_or(claimer <> p_claimer and due_at > v_fresh) then 0
          else p_per_webhook
        end - coalesce(sum(lists), 0)
      from (
        select claimer, due_at, 1 lists from webhook_list where webhook_id = v_webhook.id and leased and due_at > now()
        union all
        select claimer, due_at, open from webhook_batch where webhook_id = v_webhook.id and open > 0 and due_at > now()
      ) claimed
    ));
    v_last := v_webhook.id;
    exit when v_lists >= p_lists_max;
    continue when v_room <= 0;
    return query
      with due as (
        select id
        from webhook_list
        where webhook_id = v_webhook.id and state = 0 and due_at <= now() and (v_webhook.state = 0 or is_test)
        order by due_at
        limit v_room
        for update skip locked
      )
      update webhook_list set leased = true, claimer = p_claimer, tries = tries + 1, due_at = v_until
      where id = any (array(select id from due))
      returning webhook_id, id, tries, events, null::int, null::int;
    get diagnostics v_rows = row_count;
    v_lists := v_lists + v_rows; v_room := v_room - v_rows;
    while v_room > 0 and v_webhook.state = 0 loop
      v_need := least(v_room, 10000) * v_webhook.list_size;
      with first as (
        select ctid row_id, id, count from webhook_event where webhook_id = v_webhook.id order by id limit 200
      ), wanted as (
        select row_id from (select row_id, sum(count) over (order by id) - count before from first) first
          where before < v_need
      ), taken as (
        delete from webhook_event where ctid = any (array(select row_id from wanted)) returning *
      ), placed as (
        select *, sum(count) over (order by id) - count before from taken
      ), rest as (
        insert into webhook_event
          (id, webhook_id, type, sequence, at, code, send_first_id, has_reference, text, count, subjects, msisdns,
            replay)
        overriding system value
        select id, webhook_id, type, sequence, at, code, send_first_id, has_reference, text, before + count - v_need,
          subjects[v_need - before + 1:], msisdns[v_need - before + 1:], replay
        from placed
        where before + count > v_need
      ), told as (
        select before, count, at, left(json_build_array(
            type, sequence, floor(extract(epoch from at) * 1000)::bigint, code, send_first_id, sent.price,
              has_reference,
            inbound.from_address, inbound.short_code, inbound.answers,
            case when v_webhook.with_text then coalesce(placed.text, sent.body, inbound.text) end
          )::text, -1)
            || ',[' || array_to_string(case when before + count > v_need then subjects[:v_need - before]
              else subjects end, ',') || '],'
            || coalesce('["' || nullif(array_to_string(case when before + count > v_need then msisdns[:v_need - before]
              else msisdns end, '","'), '') || '"]', 'null')
            || case when replay is null then ']' else ',true]' end events
        from placed
        left join lateral (select price, body from send where first_id = send_first_id offset 0) sent on true
        left join lateral (
          select from_address, answers, inbound_message.text,
            (select address from sender where id = inbound_message.short_code) short_code
          from inbound_message
          where id = any (case when type not in (0,1,2,3) then array[subjects[1]] end) offset 0
        ) inbound on true
      ), batch as (
        select ceil(least(max(before + count), v_need)::float8 / v_webhook.list_size)::int lists, min(at) from_at,
          max(at) to_at,
          '[' || string_agg(told.events, ',' order by before) || ']' events
        from told
        having count(*) > 0
      )
      insert into webhook_batch (webhook_id, claimer, due_at, list_size, lists, open, from_at, to_at, events)
      select v_webhook.id, p_claimer, v_until, v_webhook.list_size, lists, lists, from_at, to_at, events from batch
      returning id, lists, events into v_batch;
      exit when not found;
      v_lists := v_lists + v_batch.lists; v_room := v_room - v_batch.lists;
      return query select v_webhook.id, 10000 * v_batch.id, 1::smallint, v_batch.events, v_batch.lists,
        v_webhook.list_size;
    end loop;
  end loop;
  if cardinality(v_candidates) is distinct from p_endpoints_max and v_lists < p_lists_max then v_last := 0; end if;
  return query select v_last, null::bigint, null::smallint, null::text, null::int, null::int;
end $$;
