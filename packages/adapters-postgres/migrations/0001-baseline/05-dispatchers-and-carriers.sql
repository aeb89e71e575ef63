create sequence dispatcher_epoch;
create table dispatcher (
  id bigint primary key,
  lease_until timestamptz not null,
  since timestamptz default now(),
  version text,                                   -- version of the program; null: not reported
  host text,                                      -- host and process id of the dispatcher; null: not reported
  pid int
) with (fillfactor=20);

create table claimed_batch (                      -- messages that a dispatcher claimed with one statement
  dispatcher bigint not null,
  seq int not null,
  carrier smallint not null,
  lane smallint not null,
  marked int not null,                            -- number of ids, from the first, that may have been submitted
  queue smallint not null default 0,              -- queue from which the messages were claimed
  ids bigint[] not null,                          -- ascending, in the order of submission; null: settled or given back
  send_first_ids bigint[] not null,               -- send of each id; a single element applies to all
  attempts smallint[],                            -- null: all are 0
  primary key (dispatcher, seq)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500,
  autovacuum_vacuum_cost_delay=0);
-- Values in TOAST are not rewritten when `marked` changes.
alter table claimed_batch alter ids set storage external, alter send_first_ids set storage external;

-- Unlogged, so that it costs no flush. After a crash no process is idle, because each lost the connection that wakes
-- it.
create unlogged table idle_dispatcher (           -- processes to notify of due work
  id bigint generated always as identity primary key,
  until timestamptz not null                      -- the process has ended if this time is past
);
-- Every acceptance looks here. That costs 4 µs if the table is empty, where reading the empty table without an index
-- costs 15 µs.
create index idle_dispatcher_until on idle_dispatcher (until);

-- Unlogged, because each process repeats its report within seconds.
create unlogged table carrier_status (            -- reports of dispatchers on their carriers, for operators
  process text not null,                          -- identifies one run of a process
  host text not null,
  pid int not null,
  carrier text not null,
  report text not null,                           -- JSON of core's CarrierReport
  told_at timestamptz not null,
  primary key (process, carrier)
);

create unlogged table carrier_figure (            -- outcomes in slots of five minutes of the last day, for operators
  carrier text not null,
  slot timestamptz not null,
  prefix text not null,                           -- calling code of the numbers; '': not reported
  delivered bigint not null,
  failed bigint not null,
  unknown bigint not null,
  refused bigint not null,
  primary key (carrier, slot, prefix)
);

create table carrier_bind (                       -- binds leased to processes; logged, so that leases survive a crash
  carrier text not null,
  number int not null,                            -- 1 to the number of binds that the carrier allows
  holder text not null,                           -- identifies one carrier of one run of a process
  lease_until timestamptz not null,
  primary key (carrier, number)
);

create table carrier_rate (                       -- shares of a carrier's rate; logged, so that leases survive a crash
  carrier text not null,
  holder text not null,                           -- identifies one carrier of one run of a process
  share int not null,                             -- parts a second that the holder may submit
  need int not null,                              -- parts a second that the holder could use
  lease_until timestamptz not null,
  primary key (carrier, holder)
);

create table carrier_mode (                       -- carriers that operators have paused or drained, in all processes
  carrier text primary key,
  mode text not null,
  since timestamptz not null default now(),
  set_by text not null
);

-- Unlogged, because a watch is renewed within seconds and missed PDUs are not shown later.
create unlogged table carrier_watch (             -- operators who watch the PDUs of a carrier now
  id uuid primary key,
  carrier text not null,
  number text,                                    -- only PDUs with this address; null: all
  has_text bool not null,                         -- true: with the texts of messages
  watched_until timestamptz not null
);
create unlogged table watched_pdu (               -- PDUs to show; deleted when they are shown or the watch ends
  id bigint generated always as identity primary key,
  watch uuid not null references carrier_watch on delete cascade,
  pdu text not null                               -- JSON of core's WatchedPdu
);

create table carrier_version (                    -- carriers and routes of the deployment; the latest version applies
  version int primary key,                        -- from 1
  sealed text not null,                           -- document with its secrets, encrypted with SECRETS_KEY
  digest text not null,                           -- digest of the document without its secrets
  carriers text[] not null,                       -- names of the carriers
  stored_at timestamptz not null default now(),
  stored_by text not null
);

create table carrier_user (                       -- processes that dispatch, with the version that each uses
  process text primary key,                       -- identifies one run of a process
  host text not null,
  pid int not null,
  version int not null,                           -- 0: no version is stored
  simulated text,                                 -- simulated carriers that the process uses in place of a version
  lease_until timestamptz not null
);
