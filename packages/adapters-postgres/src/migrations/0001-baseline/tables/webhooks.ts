import { listsPerBatch } from '../../../webhooks/lists-of-batch.ts'

// Events wait in a table of which rows are only inserted and deleted, and not even toasted. What is claimed of them is one row, with its
// events in one value that is stored apart if it is long; a list has a row once something has come of it (docs/decisions/0068).
export const webhooks = `
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
  previous json not null default '[]'             -- secrets before it, the newest first: each encrypted, and until when it signs
);
create index webhook_account on webhook (account_id);

create table webhook_event (                      -- what waits to be put into a list: events of one statement that differ in nothing else
  id bigint generated always as identity,
  webhook_id int not null,                        -- no reference: what outlives its endpoint is dropped later
  type smallint not null,                         -- as webhooks/event-codes.ts has them; another version may know more
  sequence smallint not null,
  at timestamptz not null,
  code smallint,                                  -- this and the next two: of messages
  send_first_id bigint,
  has_reference bool,
  text text,                                      -- of an imported opt-out
  count int not null default 1,                   -- 1 unless they are of messages
  subjects bigint[] not null,                     -- a message; an inbound message; of an opt-out the one that asked for it, or 0
  msisdns bigint[],
  replay int,                                     -- by which it waits again
  primary key (webhook_id, id)
) with (toast_tuple_target=8160, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index webhook_event_replay on webhook_event (replay) where replay is not null;

create table webhook_batch (                      -- events that were claimed at once; lists are cut from it
  id bigint generated always as identity primary key,
  webhook_id int not null,
  claimer int not null,                           -- who leased it
  due_at timestamptz not null,                    -- the lease is over then
  list_size int not null,
  lists int not null,                             -- at most ${listsPerBatch}; the n-th, from 0, has the id ${listsPerBatch} * id + n
  open int not null,                              -- lists of which nothing has come yet
  from_at timestamptz not null,                   -- its first and its last event
  to_at timestamptz not null,
  events text not null                            -- JSON, as claim_webhook_lists writes it (StoredEvents)
) with (fillfactor=90, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
alter table webhook_batch alter events set storage external;
create index webhook_batch_open on webhook_batch (webhook_id, due_at) where open > 0;
create index webhook_batch_time on webhook_batch (webhook_id, to_at, from_at);

create table webhook_list (                       -- a list of which something has come
  id bigint primary key,
  webhook_id int not null,
  state smallint not null default 0,              -- 0 open, 1 delivered, 2 dead, 3 dead and replayed, 4 a test that failed, or divided
  leased bool not null default false,
  claimer int,                                    -- who leased it, or did so last
  is_test bool not null default false,
  tries smallint not null default 0,              -- that were begun
  due_at timestamptz not null default now(),      -- open: to be tried from then on; leased: the lease is over then; ended: when that was
  milliseconds int,                               -- this and the next three: of its last try, as in webhook_attempt
  status smallint,
  retry_after float8,
  beginning text,
  from_at timestamptz,                            -- its first and its last event; this and the next two: null if the first try delivered it
  to_at timestamptz,
  events text                                     -- as in its batch, which has them if this is null
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
alter table webhook_list alter events set storage external;
create index webhook_list_open on webhook_list (webhook_id, due_at) where state = 0;
create index webhook_list_leased on webhook_list (webhook_id) where leased;
create index webhook_list_test on webhook_list (webhook_id) where state = 0 and is_test;
create index webhook_list_ended on webhook_list (webhook_id, state, due_at) where state <> 0;
create index webhook_list_dead on webhook_list (webhook_id, id) where state = 2;
create index webhook_list_time on webhook_list (webhook_id, to_at, id, from_at) where to_at is not null;

create table webhook_attempt (                    -- one try of one list that failed: one that succeeded is told of by its list
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

create table webhook_replay (                     -- events are pushed again; worked on in steps, each a statement of whoever dispatches
  id int generated always as identity primary key,
  webhook_id int not null references webhook on delete cascade,
  account_id int not null,
  state smallint not null default 0,              -- 0 running, 1 done, 2 stopped
  event text,                                     -- this one; or what happened from and to then; or none of these: dead lists
  from_at timestamptz,
  to_at timestamptz,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  worked_at timestamptz not null default now(),   -- the last step
  up_to timestamptz,                              -- this and the next two: the last list (0) or batch (1) that was read, in the order of its last event
  last_kind smallint not null default 0,
  last_id bigint not null default 0,
  events bigint not null default 0                -- so many wait again, or did
);
create unique index webhook_replay_running on webhook_replay (account_id) where state = 0;
create index webhook_replay_webhook on webhook_replay (webhook_id, id);

create table webhook_replayed_event (             -- of replays that run: an event is in several lists if it was replayed before
  replay int not null references webhook_replay on delete cascade,
  event uuid not null,
  primary key (replay, event)
);
`
