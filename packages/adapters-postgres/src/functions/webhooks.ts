import { sql } from '../sql/statement.ts'
import { LIST_STATE, REPLAY_STATE, WEBHOOK_STATE } from '../stored-codes.ts'

const condition = `case when state = ${WEBHOOK_STATE.paused} then 'paused'
      when state = ${WEBHOOK_STATE.disabled} then 'disabled'
      when failing_since is null then 'active' else 'failing' end`

const { open, delivered, dead, replayed, over } = LIST_STATE
const endedStates = [delivered, dead, replayed, over].join(', ')

/**
 * Sums the waiting events and lists of all endpoints, grouped by the condition of the endpoint. For each endpoint it
 * counts at most `p_rows` rows of events, of open lists and of dead lists.
 */
const webhookTotals = sql`
create or replace function webhook_totals(p_rows int)
  returns table (condition text, endpoints int, events bigint, lists bigint, dead bigint, oldest timestamptz)
    language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
#variable_conflict use_column
begin
  return query
  with recursive waiting as (
    (select webhook_id from webhook_event order by webhook_id limit 1)
    union all
    select (select webhook_id from webhook_event where webhook_id > waiting.webhook_id order by webhook_id
      limit 1)
    from waiting where waiting.webhook_id is not null
  ), open as (
    (select webhook_id from webhook_list where state = ${open} order by webhook_id limit 1)
    union all
    select (select webhook_id from webhook_list where state = ${open} and webhook_id > open.webhook_id
      order by webhook_id limit 1)
    from open where open.webhook_id is not null
  ), given_up as (
    (select webhook_id from webhook_list where state = ${dead} order by webhook_id limit 1)
    union all
    select (select webhook_id from webhook_list where state = ${dead} and webhook_id > given_up.webhook_id
      order by webhook_id limit 1)
    from given_up where given_up.webhook_id is not null
  ),
  counted as (
    select walked.webhook_id, sum(first.count) events, 0::bigint lists, 0::bigint dead, min(first.at) oldest
    from waiting walked
    cross join lateral (
      select * from webhook_event where webhook_id = walked.webhook_id order by id limit p_rows
    ) first
    group by walked.webhook_id
    union all
    select walked.webhook_id, 0, count(*), 0, min(first.from_at)
    from open walked
    cross join lateral (
      select * from webhook_list where webhook_id = walked.webhook_id and state = ${open} order by due_at limit p_rows
    ) first
    group by walked.webhook_id
    union all
    select walked.webhook_id, 0, 0, count(*), null
    from given_up walked
    cross join lateral (
      select * from webhook_list where webhook_id = walked.webhook_id and state = ${dead} order by webhook_id
        limit p_rows
    ) first
    group by walked.webhook_id
  )
  select condition, sum(endpoints)::int, sum(events)::bigint, sum(lists)::bigint, sum(dead)::bigint, min(oldest)
  from (
    select ${condition} as condition, 1 endpoints, 0::bigint events,
        0::bigint lists, 0::bigint dead, null::timestamptz oldest from webhook
    union all
    select (select ${condition} from webhook where id = webhook_id), 0, sum(events),
        sum(lists), sum(dead), min(oldest)
    from counted
    group by webhook_id
  ) of_each
  where condition is not null
  group by condition;
end $$;
`

/**
 * Drops lists and events that are older than `p_days`, and the rows of removed endpoints, at most `p_rows` of each
 * kind. Returns the largest of the counts. Finds the endpoints by walking the keys of the rows, so that rows of a
 * removed endpoint are found without reading the rows of other endpoints.
 */
const purgeWebhooks = sql`
create or replace function purge_webhooks(p_rows int, p_days float8) returns int language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_before timestamptz := now() - make_interval(secs => p_days * 86400); v_lists int; v_events int;
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
        select id from webhook_list where webhook_id = walk.webhook_id and state <> ${open}
          and state in (${endedStates}) and due_at < v_before limit p_rows
      ) list
      limit p_rows
    )
    union all
    (
      select list.id
      from walk
      cross join lateral (
        select id from webhook_list where webhook_id = walk.webhook_id and to_at < v_before and state = ${open}
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
    select (select webhook_id from webhook_event where webhook_id > walk.webhook_id order by webhook_id
      limit 1)
    from walk where walk.webhook_id is not null
  ), old as (
    select event.row_id
    from walk
    cross join lateral (
      select ctid row_id, at from webhook_event where webhook_id = walk.webhook_id order by id
        limit p_rows for update skip locked
    ) event
    where event.at < v_before or (select id from webhook where id = walk.webhook_id) is null
    limit p_rows
  )
  delete from webhook_event where ctid = any (array(select row_id from old));
  get diagnostics v_events = row_count;

  delete from webhook_replay where id = any (array(
    select id from webhook_replay where state <> ${REPLAY_STATE.running} and ended_at < v_before limit p_rows
  ));
  return greatest(v_lists, v_events);
end $$;
`

export const webhookFunctions = [webhookTotals, purgeWebhooks]
