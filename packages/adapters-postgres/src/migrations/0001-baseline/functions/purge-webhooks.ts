import { listsPerBatch } from '../../../webhooks/lists-of-batch.ts'

/** The endpoints that have such rows of a table, one step of its index each. */
const endpointsOf = (table: string, which: string): string => `walk as (
    (select webhook_id from ${table} where ${which} order by webhook_id limit 1)
    union all
    select (select webhook_id from ${table} where ${which} and webhook_id > walk.webhook_id order by webhook_id limit 1)
    from walk where walk.webhook_id is not null
  )`

const isGone = `(select id from webhook where id = walk.webhook_id) is null`

/** At most p_rows ids of one endpoint and of all. */
const idsOf = (table: string, which: string, ofEndpoints = 'true'): string => `(
      select found.id
      from walk
      cross join lateral (select id from ${table} found where webhook_id = walk.webhook_id and ${which} limit p_rows) found
      where ${ofEndpoints}
      limit p_rows
    )`

/** With their attempts; adds to v_lists. */
const dropLists = (which: string, old: string): string => `
  with recursive ${endpointsOf('webhook_list', which)}, old as (
    ${idsOf('webhook_list', old)}
    union all
    ${idsOf('webhook_list', which, isGone)}
  ), dropped as (
    delete from webhook_list where id = any (array(select id from old)) returning id
  ), attempts as (
    delete from webhook_attempt where list_id = any (array(select id from dropped))
  )
  select v_lists + count(*) into v_lists from dropped;
`

/** None of its lists has a row, nor is to get one. */
const isOver = `(open = 0 or due_at < now()) and (
          select true from webhook_list
          where id between ${listsPerBatch} * found.id and ${listsPerBatch} * found.id + ${listsPerBatch - 1}
          limit 1
        ) is null`

// Endpoints are walked through by the keys of their rows: what a removed one left is found without reading what others have.
export const purgeWebhooks = `
-- Drops lists, their batches and events that are older than p_days, and whatever is left of endpoints that were removed, at most p_rows of
-- each kind. Returns how many there were of the kind of which there were most.
create function purge_webhooks(p_rows int, p_days float8) returns int language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_before timestamptz := now() - make_interval(secs => p_days * 86400); v_lists int := 0; v_batches int; v_events int;
begin
${dropLists('state <> 0', 'state in (1, 2, 3, 4) and due_at < v_before')}
${dropLists('to_at is not null', 'to_at < v_before and state = 0')}
  with recursive ${endpointsOf('webhook_batch', 'true')}, old as (
    ${idsOf('webhook_batch', `to_at < v_before and ${isOver}`)}
    union all
    ${idsOf('webhook_batch', 'true', isGone)}
  )
  delete from webhook_batch where id = any (array(select id from old));
  get diagnostics v_batches = row_count;

  with recursive ${endpointsOf('webhook_event', 'true')}, old as (
    select event.row_id
    from walk
    cross join lateral (
      select ctid row_id, at from webhook_event where webhook_id = walk.webhook_id order by id limit p_rows for update skip locked
    ) event
    where event.at < v_before or ${isGone}
    limit p_rows
  )
  delete from webhook_event where ctid = any (array(select row_id from old));
  get diagnostics v_events = row_count;

  delete from webhook_replay where id = any (array(
    select id from webhook_replay where state <> 0 and ended_at < v_before limit p_rows
  ));
  return greatest(v_lists, v_batches, v_events);
end $$;
`
