-- Waiting events are in a table whose rows are only inserted and deleted, and are not moved to TOAST. A claimed list is
-- one row, with its events in one value, which is stored in TOAST if it is long (docs/decisions/0068).
create table webhook (                            -- endpoints of accounts
  id int generated always as identity primary key,
  account_id int not null references account,
  url text not null,
  events int not null,                            -- subscribed types, one bit each
  list_size int not null,
  with_text bool not null,
  state smallint not null default 0,              -- 0 active, 1 paused, 2 disabled
  paused_for text,
  created_at timestamptz not null,
  failing_since timestamptz,
  secret text not null,                           -- encrypted
  secret_at timestamptz not null default now(),   -- time at which the secret was stored
  previous json not null default '[]'             -- previous secrets, newest first, each with the time of its end
);
create index webhook_account on webhook (account_id);

create table webhook_event (                      -- events to be put into a list; those of a row differ in subject only
  id bigint generated always as identity,
  webhook_id int not null,                        -- not a foreign key: rows of removed endpoints are dropped later
  type smallint not null,                         -- see docs/stored-codes.md; another version may know more types
  sequence smallint not null,
  at timestamptz not null,
  code smallint,                                  -- this and the next two: for events of messages
  send_first_id bigint,
  has_reference bool,
  text text,                                      -- text of an imported opt-out
  count int not null default 1,                   -- number of events; 1 unless they are events of messages
  subjects bigint[] not null,                     -- ids of messages or inbound messages; for an opt-out its reply, or 0
  msisdns bigint[],
  replay int,                                     -- replay that queued it again; null: none
  primary key (webhook_id, id)
) with (toast_tuple_target=8160, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000,
  autovacuum_vacuum_cost_delay=0);
create index webhook_event_replay on webhook_event (replay) where replay is not null;

create table webhook_list (                       -- events of one request
  id bigint generated always as identity,
  webhook_id int not null,
  state smallint not null default 0,              -- 0 open, 1 delivered, 2 dead, 3 replayed, 4 no more
  leased bool not null default false,             -- true: open and claimed
  is_test bool not null default false,
  tries smallint not null default 0,              -- number of attempts that were begun
  due_at timestamptz not null default now(),      -- open: next attempt; leased: end of the lease; else: time of the end
  milliseconds int,                               -- this and the next three: last attempt, as in webhook_attempt
  status smallint,
  retry_after float8,
  beginning text,
  from_at timestamptz not null,                   -- times of the first and of the last event
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
-- Created last: while the table is empty, all indexes with id cost the same, and the planner chooses the newest one.
alter table webhook_list add primary key (id);

create table webhook_attempt (                    -- failed attempts
  list_id bigint not null,
  tries smallint not null,                        -- number of the attempt, from 1
  webhook_id int not null,
  at timestamptz not null,
  milliseconds int not null,
  status smallint,                                -- null: no response
  failure text,                                   -- reason if there was no response
  retry_after float8,
  beginning text,
  verdict smallint not null,                      -- 1 to be tried again, 2 dead, 3 gone, 4 a test that failed
  next_at timestamptz,
  primary key (list_id, tries)
);
create index webhook_attempt_webhook on webhook_attempt (webhook_id, at);
create sequence webhook_test;

create table webhook_replay (                     -- replays of events, done in steps
  id int generated always as identity primary key,
  webhook_id int not null references webhook on delete cascade,
  account_id int not null,
  state smallint not null default 0,              -- 0 running, 1 done, 2 stopped
  event text,                                     -- one event; if null, the events of the period, else all dead lists
  from_at timestamptz,
  to_at timestamptz,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  worked_at timestamptz not null default now(),   -- time of the last step
  up_to timestamptz,                              -- this and the next: last event and id of the last list read
  last_id bigint not null default 0,
  events bigint not null default 0                -- number of events that were queued again
);
create unique index webhook_replay_running on webhook_replay (account_id) where state = 0;
create index webhook_replay_webhook on webhook_replay (webhook_id, id);

create table webhook_replayed_event (             -- events of running replays, because an event may be in several lists
  replay int not null references webhook_replay on delete cascade,
  event uuid not null,
  primary key (replay, event)
);
