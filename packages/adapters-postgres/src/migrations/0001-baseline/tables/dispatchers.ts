export const dispatchers = `
create sequence dispatcher_epoch;
create table dispatcher (
  id bigint primary key,
  lease_until timestamptz not null,
  since timestamptz default now(),
  version text,                                   -- of the program; null: it did not tell
  host text,                                      -- where it runs, and the number of its process; null: it did not tell
  pid int
) with (fillfactor=20);

create table claimed_batch (                      -- messages that one dispatcher has claimed together
  dispatcher bigint not null,
  seq int not null,
  carrier smallint not null,
  lane smallint not null,
  marked int not null,                            -- so many of the ids, from the front, may have left
  queue smallint not null default 0,              -- of due, that it was claimed from
  ids bigint[] not null,                          -- ascending = order of submission; null: settled or given back
  send_first_ids bigint[] not null,               -- the send of each id; one element: the same for all
  attempts smallint[],                            -- null: all 0
  primary key (dispatcher, seq)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500, autovacuum_vacuum_cost_delay=0);
-- A mark does not rewrite what is in TOAST.
alter table claimed_batch alter ids set storage external, alter send_first_ids set storage external;

-- Unlogged: it costs no flush, and after a crash no process sleeps, since each has lost the connection that would wake it.
create unlogged table idle_dispatcher (           -- processes that look for due work seldom, and are to be told of it
  id bigint generated always as identity primary key,
  until timestamptz not null                      -- a process that has not renewed it by then has ended without a word
);
-- Every acceptance looks here: 4 µs while it is empty, where reading the whole empty table costs 15.
create index idle_dispatcher_until on idle_dispatcher (until);
`
