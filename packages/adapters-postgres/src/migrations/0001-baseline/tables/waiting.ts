// Waiting work is ranges of ids: the table that holds a range is its state. Rows of due and later are deleted and inserted,
// never updated.
export const waiting = `
create table due (                                -- to be sent now: ids lo .. hi-1 of a send
  queue smallint not null default 0,              -- that of its route, and of who refused it for now
  lane smallint not null,                         -- 0: sends of up to 10 numbers, 1: the rest
  account_id int not null,
  lo bigint not null,
  hi bigint not null,
  first_id bigint not null,
  due_at timestamptz not null default now(),      -- when it first was due: validity counts from here
  attempt smallint not null default 0,
  deletable bool not null default false,          -- scheduled, and no carrier has seen it
  primary key (queue, lane, account_id, lo),
  check (lo < hi)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index due_due_at on due (due_at);          -- expiry looks here
create index due_deletable on due (account_id, due_at, lo) where deletable;

create table later (                              -- attempt 0: scheduled, deletable; above: refused for now, to be tried again
  queue smallint not null default 0,              -- where it will be due
  lane smallint not null,
  account_id int not null,
  lo bigint not null,
  hi bigint not null,
  first_id bigint not null,
  due_at timestamptz not null,
  at timestamptz not null,
  attempt smallint not null default 0,
  primary key (account_id, lo),
  check (lo < hi)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index later_at on later (account_id, at);
create index later_scheduled on later (account_id, due_at, lo) where attempt = 0;
create index later_time on later (at);            -- whether anything is due at all; and expiry
create index later_tried on later (due_at) where attempt > 0;

-- How many messages of \`later\` are scheduled (attempt 0), so that a page far in is found by counting. A statement that inserts or
-- deletes such rows notes it in scheduled_change, which is added to the counts now and then. A count may be in several rows.
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
`
