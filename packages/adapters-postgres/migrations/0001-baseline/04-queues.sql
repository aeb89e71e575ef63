-- Ids of routes and queues are never reused, because sends and waiting ranges refer to them.
create sequence queue_number as smallint;         -- ids of queues; a route has the id of its first queue
create table route (                              -- routes: the carriers for a message
  id smallint primary key default nextval('queue_number'),
  name text not null unique,
  position smallint,                              -- order in which routes are tried; null: no longer published
  prefixes text[] not null,                       -- this and the next two are conditions; empty: any
  accounts int[] not null,
  senders text[] not null,
  carriers text[] not null,
  priorities smallint[] not null,                 -- one element for each carrier
  weights smallint[] not null
);

create table queue (                              -- messages that are claimed together; 0: no route, any carrier
  id smallint primary key default nextval('queue_number'),
  route smallint not null,
  refused_by text not null,                       -- carrier that has refused the messages temporarily; '': none
  only_for text not null,                         -- carrier that the messages wait for, because of the sender; '': any
  unique (route, refused_by, only_for)
);
insert into queue (id, route, refused_by, only_for) values (0, 0, '', '');

-- Waiting messages are stored as ranges of ids. The state of a range is the table that it is in. Rows of due and later
-- are deleted and inserted, never updated.
create table due (                                -- messages to be sent now: ids lo .. hi-1 of a send
  queue smallint not null default 0,              -- queue of the route and of the carrier that refused temporarily
  lane smallint not null,                         -- LANE: 0 single, 1 bulk
  account_id int not null,
  rank smallint not null default 0,               -- negative of the send's priority; the lowest rank is claimed first
  lo bigint not null,
  hi bigint not null,
  first_id bigint not null,
  due_at timestamptz not null default now(),      -- time at which it first became due; validity counts from here
  expires_at timestamptz,                         -- copied from the send
  attempt smallint not null default 0,
  deletable bool not null default false,          -- true: was scheduled, and no carrier has seen it
  primary key (queue, lane, account_id, rank, lo),
  check (lo < hi)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index due_due_at on due (due_at) where expires_at is null; -- for expiry, as the next index
create index due_expires_at on due (expires_at) where expires_at is not null;
create index due_deletable on due (account_id, due_at, lo) where deletable;

create table later (                              -- messages that wait: attempt 0 is scheduled, above 0 is a retry
  queue smallint not null default 0,              -- queue in which it will be due
  lane smallint not null,
  account_id int not null,
  lo bigint not null,
  hi bigint not null,
  first_id bigint not null,
  due_at timestamptz not null,
  expires_at timestamptz,                         -- copied from the send
  at timestamptz not null,
  attempt smallint not null default 0,
  rank smallint not null default 0,               -- rank with which it will be due
  primary key (account_id, lo),
  check (lo < hi)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index later_at on later (account_id, at);
create index later_scheduled on later (account_id, due_at, lo) where attempt = 0;
create index later_time on later (at);            -- for finding due ranges, and for expiry
create index later_tried on later (due_at) where attempt > 0 and expires_at is null;
create index later_expires_at on later (expires_at) where expires_at is not null;

-- Counts of the scheduled messages in `later` (attempt 0), by which a page with a large offset is found. A statement
-- that inserts or deletes such rows records the change in scheduled_change, which is added to the counts from time to
-- time. A count may have several rows, which are summed.
create table scheduled_change (
  account_id int not null,
  due_at timestamptz not null,
  block bigint not null,                          -- first id of the range, divided by 1000
  change bigint not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index scheduled_change_account on scheduled_change (account_id);

create table scheduled_block (
  account_id int not null,
  due_at timestamptz not null,
  block bigint not null,
  n bigint not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
create index scheduled_block_place on scheduled_block (account_id, due_at, block);

create table scheduled_hour (
  account_id int not null,
  hour timestamptz not null,
  n bigint not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
create index scheduled_hour_place on scheduled_hour (account_id, hour);
