// Waiting work is ranges of ids: the table that holds a range is its state. Rows of due and later are deleted and inserted,
// never updated.
export const waiting = `
create table due (                                -- to be sent now: ids lo .. hi-1 of a send
  lane smallint not null,                         -- 0: sends of up to 10 numbers, 1: the rest
  attempt smallint not null default 0,
  account_id int not null,
  lo bigint not null,
  hi bigint not null,
  first_id bigint not null,
  due_at timestamptz not null default now(),      -- when it first was due: validity counts from here
  deletable bool not null default false,          -- scheduled, and no carrier has seen it
  primary key (lane, account_id, lo),
  check (lo < hi)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index due_due_at on due (due_at);          -- expiry looks here

create table later (                              -- attempt 0: scheduled, deletable; above: refused for now, to be tried again
  lane smallint not null,
  attempt smallint not null default 0,
  account_id int not null,
  lo bigint not null,
  hi bigint not null,
  first_id bigint not null,
  due_at timestamptz not null,
  at timestamptz not null,
  primary key (account_id, lo),
  check (lo < hi)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index later_at on later (account_id, at);
create index later_time on later (at);            -- whether anything is due at all; and expiry
create index later_tried on later (due_at) where attempt > 0;
`
