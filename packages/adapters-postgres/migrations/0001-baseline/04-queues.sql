-- Numbers are given for ever: sends and what waits name them.
create sequence queue_number as smallint;         -- of queues; that of a route is the number of its first one
create table route (                              -- which carriers take a message
  id smallint primary key default nextval('queue_number'),
  name text not null unique,
  position smallint,                              -- the order in which routes are tried; null: not published any more
  prefixes text[] not null,                       -- conditions, each empty: any
  accounts int[] not null,
  senders text[] not null,
  carriers text[] not null,
  priorities smallint[] not null,                 -- of each carrier, in the same place
  weights smallint[] not null
);

create table queue (                              -- is claimed together; 0: no route, any carrier
  id smallint primary key default nextval('queue_number'),
  route smallint not null,
  refused_by text not null,                       -- the carrier that refused for now; '': none
  only_for text not null,                         -- the carrier that is waited for, as it knows the sender; '': any
  unique (route, refused_by, only_for)
);
insert into queue (id, route, refused_by, only_for) values (0, 0, '', '');

-- Waiting work is ranges of ids: the table that holds a range is its state. Rows of due and later are deleted and
-- inserted, never updated.
create table due (                                -- to be sent now: ids lo .. hi-1 of a send
  queue smallint not null default 0,              -- that of its route, and of who refused it for now
  lane smallint not null,                         -- LANE: 0 single, 1 bulk
  account_id int not null,
  rank smallint not null default 0,               -- minus the priority of its send: the least is claimed first
  lo bigint not null,
  hi bigint not null,
  first_id bigint not null,
  due_at timestamptz not null default now(),      -- when it first was due: validity counts from here
  expires_at timestamptz,                         -- as of its send
  attempt smallint not null default 0,
  deletable bool not null default false,          -- scheduled, and no carrier has seen it
  primary key (queue, lane, account_id, rank, lo),
  check (lo < hi)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index due_due_at on due (due_at) where expires_at is null; -- expiry looks here, and in the next
create index due_expires_at on due (expires_at) where expires_at is not null;
create index due_deletable on due (account_id, due_at, lo) where deletable;

create table later (                              -- attempt 0: scheduled, deletable; above: to be retried
  queue smallint not null default 0,              -- where it will be due
  lane smallint not null,
  account_id int not null,
  lo bigint not null,
  hi bigint not null,
  first_id bigint not null,
  due_at timestamptz not null,
  expires_at timestamptz,                         -- as of its send
  at timestamptz not null,
  attempt smallint not null default 0,
  rank smallint not null default 0,               -- with which it will be due
  primary key (account_id, lo),
  check (lo < hi)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index later_at on later (account_id, at);
create index later_scheduled on later (account_id, due_at, lo) where attempt = 0;
create index later_time on later (at);            -- whether anything is due at all; and expiry
create index later_tried on later (due_at) where attempt > 0 and expires_at is null;
create index later_expires_at on later (expires_at) where expires_at is not null;

-- How many messages of `later` are scheduled (attempt 0), so that a page far in is found by counting. A statement that
-- inserts or deletes such rows notes it in scheduled_change, which is added to the counts now and then. A count may be
-- in several rows.
create table scheduled_change (
  account_id int not null,
  due_at timestamptz not null,
  block bigint not null,                          -- of the first id of the range: the id, in thousands
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
