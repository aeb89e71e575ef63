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
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500,
  autovacuum_vacuum_cost_delay=0);
-- A mark does not rewrite what is in TOAST.
alter table claimed_batch alter ids set storage external, alter send_first_ids set storage external;

-- Unlogged: it costs no flush, and after a crash no process sleeps, since each lost the connection that wakes it.
create unlogged table idle_dispatcher (           -- processes that are to be told of due work
  id bigint generated always as identity primary key,
  until timestamptz not null                      -- not renewed by then: the process has ended
);
-- Every acceptance looks here: 4 µs while it is empty, where reading the whole empty table costs 15.
create index idle_dispatcher_until on idle_dispatcher (until);

-- Statuses are unlogged: what a process tells it tells again within seconds.
create unlogged table carrier_status (            -- what processes that dispatch tell of their carriers, for operators
  process text not null,                          -- one run of a process
  host text not null,
  pid int not null,
  carrier text not null,
  report text not null,                           -- JSON of core's CarrierReport
  told_at timestamptz not null,
  primary key (process, carrier)
);

create unlogged table carrier_figure (            -- what came of messages within five minutes, for operators; of a day
  carrier text not null,
  slot timestamptz not null,
  prefix text not null,                           -- the calling code of the numbers; '': not told
  delivered bigint not null,
  failed bigint not null,
  unknown bigint not null,
  refused bigint not null,
  primary key (carrier, slot, prefix)
);

create table carrier_bind (                       -- shared by processes; logged: it must survive a crash
  carrier text not null,
  number int not null,                            -- 1 to the number of binds that the carrier allows
  holder text not null,                           -- one carrier of one run of a process
  lease_until timestamptz not null,
  primary key (carrier, number)
);

create table carrier_rate (                       -- shares of what a carrier takes a second; logged, as binds are
  carrier text not null,
  holder text not null,                           -- one carrier of one run of a process
  share int not null,                             -- parts a second, until it renews
  need int not null,                              -- what it could use
  lease_until timestamptz not null,
  primary key (carrier, holder)
);

create table carrier_mode (                       -- carriers that operators have paused or drained, in all processes
  carrier text primary key,
  mode text not null,
  since timestamptz not null default now(),
  set_by text not null
);

-- Unlogged: who watches renews its watch within seconds, and what it missed is not told again.
create unlogged table carrier_watch (             -- operators that look at the PDUs of a carrier at this moment
  id uuid primary key,
  carrier text not null,
  number text,                                    -- only PDUs with this address; null: all
  has_text bool not null,                         -- with the texts of messages
  watched_until timestamptz not null
);
create unlogged table watched_pdu (               -- until its watch takes it or ends, which is within seconds
  id bigint generated always as identity primary key,
  watch uuid not null references carrier_watch on delete cascade,
  pdu text not null                               -- JSON of core's WatchedPdu
);

create table carrier_version (                    -- carriers and routes of the deployment; the last one is in force
  version int primary key,                        -- from 1
  sealed text not null,                           -- the document with its secrets, encrypted with SECRETS_KEY
  digest text not null,                           -- of what it says, secrets left out
  carriers text[] not null,                       -- their names
  stored_at timestamptz not null default now(),
  stored_by text not null
);

create table carrier_user (                       -- processes that dispatch, and the version that they work with
  process text primary key,                       -- one run of a process
  host text not null,
  pid int not null,
  version int not null,                           -- 0: none is stored
  simulated text,                                 -- the simulated carriers that it has without a version
  lease_until timestamptz not null
);
