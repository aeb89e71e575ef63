create table erasure (                            -- erasures of numbers, recorded without the number
  id int generated always as identity primary key,
  digest text not null,                           -- HMAC-SHA-256 of the number
  done_by text not null,
  begun_at timestamptz not null default now(),
  ended_at timestamptz,                           -- null: interrupted or running
  messages bigint not null default 0,             -- numbers of changed rows by kind
  inbound bigint not null default 0,
  contacts bigint not null default 0,
  events bigint not null default 0
);
