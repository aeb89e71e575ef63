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
