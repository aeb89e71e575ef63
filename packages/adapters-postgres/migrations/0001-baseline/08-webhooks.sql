-- Events wait in a table of which rows are only inserted and deleted, and not even toasted. A list is one row from its
-- claim on, with its events in one value that is stored apart if it is long (docs/decisions/0068).
create table webhook (                            -- an endpoint of an account
  id int generated always as identity primary key,
  account_id int not null references account,
  url text not null,
  events int not null,                            -- those that it wants: a bit for each type
  list_size int not null,
  with_text bool not null,
  state smallint not null default 0,              -- 0 active, 1 paused, 2 disabled
  paused_for text,
  created_at timestamptz not null,
  failing_since timestamptz,
  secret text not null,                           -- encrypted
  secret_at timestamptz not null default now(),   -- when it was stored
  previous json not null default '[]'             -- secrets before it, newest first, and their ends
);
create index webhook_account on webhook (account_id);

create table webhook_event (                      -- waits to be put into a list: alike in all but subject
  id bigint generated always as identity,
  webhook_id int not null,                        -- no reference: what outlives its endpoint is dropped later
  type smallint not null,                         -- docs/stored-codes.md; another version may know more
  sequence smallint not null,
  at timestamptz not null,
  code smallint,                                  -- this and the next two: of messages
  send_first_id bigint,
  has_reference bool,
  text text,                                      -- of an imported opt-out
  count int not null default 1,                   -- 1 unless they are of messages
  subjects bigint[] not null,                     -- (inbound) messages; of an opt-out what asked, or 0
  msisdns bigint[],
  replay int,                                     -- by which it waits again
  primary key (webhook_id, id)
) with (toast_tuple_target=8160, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000,
  autovacuum_vacuum_cost_delay=0);
create index webhook_event_replay on webhook_event (replay) where replay is not null;

create table webhook_list (                       -- the events of one request
  id bigint generated always as identity,
  webhook_id int not null,
  state smallint not null default 0,              -- 0 open, 1 delivered, 2 dead, 3 replayed, 4 no more
  leased bool not null default false,             -- open, and claimed
  is_test bool not null default false,
  tries smallint not null default 0,              -- that were begun
  due_at timestamptz not null default now(),      -- open: next try; leased: end of the lease; else: ended
  milliseconds int,                               -- this and the next three: of its last try, as in webhook_attempt
  status smallint,
  retry_after float8,
  beginning text,
  from_at timestamptz not null,                   -- its first and its last event
  to_at timestamptz not null,
  events json not null                            -- as claim-lists writes it (webhooks/stored-events.ts)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000,
  autovacuum_vacuum_cost_delay=0);
alter table webhook_list alter events set storage external;
create index webhook_list_open on webhook_list (webhook_id, due_at) where state = 0;
create index webhook_list_test on webhook_list (webhook_id) where state = 0 and is_test;
create index webhook_list_ended on webhook_list (webhook_id, state, due_at) where state <> 0;
create index webhook_list_dead on webhook_list (webhook_id, id) where state = 2;
create index webhook_list_time on webhook_list (webhook_id, to_at, id, from_at);
-- Last: while the table is empty all indexes with id cost the same, and the planner takes the newest of them.
alter table webhook_list add primary key (id);

create table webhook_attempt (                    -- tries that failed
  list_id bigint not null,
  tries smallint not null,                        -- its number, from 1
  webhook_id int not null,
  at timestamptz not null,
  milliseconds int not null,
  status smallint,                                -- null: no answer
  failure text,                                   -- why there is none
  retry_after float8,
  beginning text,
  verdict smallint not null,                      -- 1 to be tried again, 2 dead, 3 gone, 4 a test that failed
  next_at timestamptz,
  primary key (list_id, tries)
);
create index webhook_attempt_webhook on webhook_attempt (webhook_id, at);
create sequence webhook_test;

create table webhook_replay (                     -- events are pushed again, in steps
  id int generated always as identity primary key,
  webhook_id int not null references webhook on delete cascade,
  account_id int not null,
  state smallint not null default 0,              -- 0 running, 1 done, 2 stopped
  event text,                                     -- this one; or those from and to; or all dead lists
  from_at timestamptz,
  to_at timestamptz,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  worked_at timestamptz not null default now(),   -- the last step
  up_to timestamptz,                              -- this and the next: the last list, by its last event
  last_id bigint not null default 0,
  events bigint not null default 0                -- so many wait again, or did
);
create unique index webhook_replay_running on webhook_replay (account_id) where state = 0;
create index webhook_replay_webhook on webhook_replay (webhook_id, id);

create table webhook_replayed_event (             -- of replays that run; it may be in several lists
  replay int not null references webhook_replay on delete cascade,
  event uuid not null,
  primary key (replay, event)
);

-- What waits for all endpoints, by how they are; of each the first p_rows rows of events, of open lists and of dead
-- ones count.
create function webhook_totals(p_rows int)
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
    (select webhook_id from webhook_list where state = 0 order by webhook_id limit 1)
    union all
    select (select webhook_id from webhook_list where state = 0 and webhook_id > open.webhook_id order by webhook_id
      limit 1)
    from open where open.webhook_id is not null
  ), given_up as (
    (select webhook_id from webhook_list where state = 2 order by webhook_id limit 1)
    union all
    select (select webhook_id from webhook_list where state = 2 and webhook_id > given_up.webhook_id
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
      select * from webhook_list where webhook_id = walked.webhook_id and state = 0 order by due_at limit p_rows
    ) first
    group by walked.webhook_id
    union all
    select walked.webhook_id, 0, 0, count(*), null
    from given_up walked
    cross join lateral (
      select * from webhook_list where webhook_id = walked.webhook_id and state = 2 order by webhook_id limit p_rows
    ) first
    group by walked.webhook_id
  )
  select condition, sum(endpoints)::int, sum(events)::bigint, sum(lists)::bigint, sum(dead)::bigint, min(oldest)
  from (
    select case when state = 1 then 'paused' when state = 2 then 'disabled'
      when failing_since is null then 'active' else 'failing' end as condition, 1 endpoints, 0::bigint events,
        0::bigint lists, 0::bigint dead, null::timestamptz oldest from webhook
    union all
    select (select case when state = 1 then 'paused' when state = 2 then 'disabled'
      when failing_since is null then 'active' else 'failing' end from webhook where id = webhook_id), 0, sum(events),
        sum(lists), sum(dead), min(oldest)
    from counted
    group by webhook_id
  ) of_each
  where condition is not null
  group by condition;
end $$;

-- Drops lists and events that are older than p_days, and whatever is left of endpoints that were removed, at most
-- p_rows of each kind. Returns how many there were of the kind of which there were most. Endpoints are walked through
-- by the keys of their rows: what a removed one left is found without reading what others have.
create function purge_webhooks(p_rows int, p_days float8) returns int language plpgsql
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
        select id from webhook_list where webhook_id = walk.webhook_id and state <> 0 and state in (1, 2, 3, 4)
          and due_at < v_before limit p_rows
      ) list
      limit p_rows
    )
    union all
    (
      select list.id
      from walk
      cross join lateral (
        select id from webhook_list where webhook_id = walk.webhook_id and to_at < v_before and state = 0 limit p_rows
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
    select id from webhook_replay where state <> 0 and ended_at < v_before limit p_rows
  ));
  return greatest(v_lists, v_events);
end $$;
