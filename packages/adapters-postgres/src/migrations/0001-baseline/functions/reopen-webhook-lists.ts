import { listsPerBatch } from '../../../webhooks/lists-of-batch.ts'

export const reopenWebhookLists = `
-- The lists p_wanted, from 0, of p_size events each, that are cut from events as webhook_batch has them. Lists beyond the end are not there.
create function cut_webhook_events(p_events text, p_size int, p_wanted int[])
returns table (place int, from_at timestamptz, to_at timestamptz, events text) language sql stable as $$
  with stored as materialized (
    select nr, to_timestamp((one ->> 2)::bigint / 1000.0) at, json_array_length(one -> 11) count,
      sum(json_array_length(one -> 11)) over (order by nr) - json_array_length(one -> 11) before,
      left(json_build_array(one -> 0, one -> 1, one -> 2, one -> 3, one -> 4, one -> 5, one -> 6, one -> 7, one -> 8, one -> 9, one -> 10)::text, -1) common,
      case when one -> 13 is null then ']' else ',true]' end tail, array(select json_array_elements_text(one -> 11)) subjects,
      case when json_typeof(one -> 12) = 'array' then array(select json_array_elements_text(one -> 12)) end numbers
    from json_array_elements(p_events::json) with ordinality stored(one, nr)
  ), parts as (
    select place, nr, at, common || ',[' || array_to_string(subjects[lo:hi], ',') || '],' || coalesce('["' || array_to_string(numbers[lo:hi], '","') || '"]', 'null') || tail part
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
    select ${listsPerBatch} * expired.id + place, p_webhook, 1, due_at, cut.from_at, cut.to_at, cut.events
    from expired
    cross join lateral cut_webhook_events(events, list_size, array(
      select place from generate_series(0, lists - 1) place
      where (select true from webhook_list where id = ${listsPerBatch} * expired.id + place) is null
    )) cut
    on conflict (id) do nothing
  )
  update webhook_batch set open = 0 where id = any (array(select id from expired))
$$;
`
