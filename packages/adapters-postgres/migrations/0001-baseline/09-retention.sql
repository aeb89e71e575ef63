create table erasure (                            -- of the owner of a number: what was done, without the number
  id int generated always as identity primary key,
  digest text not null,                           -- HMAC-SHA-256 of the number
  done_by text not null,
  begun_at timestamptz not null default now(),
  ended_at timestamptz,                           -- null: broken off, or at work
  messages bigint not null default 0,             -- so many of each were changed
  inbound bigint not null default 0,
  contacts bigint not null default 0,
  events bigint not null default 0
);
