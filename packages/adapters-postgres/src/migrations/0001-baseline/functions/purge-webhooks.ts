// Endpoints are walked through by the keys of their rows: what a removed one left is found without reading what others have.
export const purgeWebhooks = `
-- Drops lists and events that are older than p_days, and whatever is left of endpoints that were removed, at most p_rows of each kind.
-- Returns how many there were of the kind of which there were most.
create function purge_webhooks(p_rows int, p_days float8) returns int language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare v_before timestamptz := now() - make_interval(secs => p_days * 86400); v_lists int; v_events int;
begin
  with recursive walk as (
    (select webhook_id from webhook_list order by webhook_id limit 1)
    union all
    select (select webhook_id from webhook_list where webhook_id > walk.webhook_id order by webhook_id limit 1)
    from walk where walk.webhook_id is not null
  ), old as (
    (
      select list.id
      from walk
      cross join lateral (
        select id from webhook_list
        where webhook_id = walk.webhook_id and state in (1, 2, 3) and due_at < v_before
        limit p_rows
      ) list
      limit p_rows
    )
    union all
    (
      select list.id
      from walk
      cross join lateral (
        select id from webhook_list
        where webhook_id = walk.webhook_id and to_at < v_before and state = 0
        limit p_rows
      ) list
      limit p_rows
    )
    union all
    (
      select list.id
      from walk
      cross join lateral (select id from webhook_list where webhook_id = walk.webhook_id limit p_rows) list
      where (select id from webhook where id = walk.webhook_id) is null
      limit p_rows
    )
  ), dropped as (
    delete from webhook_list where id = any (array(select id from old)) returning id
  ), attempts as (
    delete from webhook_attempt where list_id = any (array(select id from dropped))
  )
  select count(*) into v_lists from dropped;

  with recursive walk as (
    (select webhook_id from webhook_event order by webhook_id limit 1)
    union all
    select (select webhook_id from webhook_event where webhook_id > walk.webhook_id order by webhook_id limit 1)
    from walk where walk.webhook_id is not null
  ), old as (
    select event.row_id
    from walk
    cross join lateral (
      select ctid row_id, at from webhook_event where webhook_id = walk.webhook_id order by id limit p_rows for update skip locked
    ) event
    where event.at < v_before or (select id from webhook where id = walk.webhook_id) is null
    limit p_rows
  )
  delete from webhook_event where ctid = any (array(select row_id from old));
  get diagnostics v_events = row_count;
  return greatest(v_lists, v_events);
end $$;
`
