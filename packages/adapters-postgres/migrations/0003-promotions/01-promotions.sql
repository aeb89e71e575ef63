create table primary_look (                       -- primary as a process of the gateway saw it last
  only_row bool primary key default true check (only_row),
  system text not null,                           -- system identifier of the database cluster
  timeline int not null,                          -- increases with each promotion
  synchronous bool not null,                      -- true: commits waited for a synchronous standby
  looked_at timestamptz not null                  -- renewed every ten seconds by each running process
);

create table promotion (                          -- promotions of standbys that may lack changes of the lost primary
  id int generated always as identity primary key,
  noticed_at timestamptz not null default now(),
  from_timeline int not null,
  timeline int not null,
  last_change_at timestamptz,                     -- time of the last received commit of the lost primary; null: unknown
  last_position text,                             -- position of the end of the received log; null: unknown
  messages bigint not null,                       -- number of messages in doubt at the beginning
  decision text,                                  -- send or end; null: not decided yet
  decided_by text,
  decided_at timestamptz,
  ended_at timestamptz                            -- time at which no message was in doubt any more
);
create index promotion_open on promotion (id) where ended_at is null;

-- The state of a range is the table that it is in, as for due and later. Rows are deleted and inserted, never updated.
-- A statement that deletes or inserts rows must have locked the open rows of promotion.
create table in_doubt (                           -- ids lo .. hi-1 of a send, which the lost server may have submitted
  lo bigint primary key,
  hi bigint not null,
  promotion int not null,
  queue smallint not null,                        -- this and the following columns are as in due
  lane smallint not null,
  account_id int not null,
  rank smallint not null,
  first_id bigint not null,
  due_at timestamptz not null,
  expires_at timestamptz,
  attempt smallint not null,
  check (lo < hi)
);
create index in_doubt_promotion on in_doubt (promotion, lo);
