create table primary_look (                       -- the primary, as processes of the gateway saw it last
  only_row bool primary key default true check (only_row),
  system text not null,                           -- the system identifier of the database
  timeline int not null,                          -- a promotion begins the next one
  synchronous bool not null,                      -- whether commits waited for a synchronous standby
  looked_at timestamptz not null                  -- renewed every ten seconds by each process that runs
);

create table promotion (                          -- of a standby that may lack what the lost primary had done
  id int generated always as identity primary key,
  noticed_at timestamptz not null default now(),
  from_timeline int not null,
  timeline int not null,
  last_change_at timestamptz,                     -- the last commit of the lost primary that arrived; null: not known
  last_position text,                             -- the end of its log as it arrived; null: not known
  messages bigint not null,                       -- how many were in doubt at first
  decision text,                                  -- send or end; null: none yet
  decided_by text,
  decided_at timestamptz,
  ended_at timestamptz                            -- when nothing was in doubt any more
);
create index promotion_open on promotion (id) where ended_at is null;

-- The table that holds a range is its state, as with due and later. Rows are deleted and inserted, never updated.
-- Whoever deletes or inserts rows has locked the open rows of promotion before.
create table in_doubt (                           -- ids lo .. hi-1 of a send, which the lost primary may have submitted
  lo bigint primary key,
  hi bigint not null,
  promotion int not null,
  queue smallint not null,                        -- this and what follows as in due
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
