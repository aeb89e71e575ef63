-- People who run the gateway and sign in at the portal.
create table operator (
  id int generated always as identity primary key,
  name text not null,
  role text not null check (role in ('admin', 'support')),
  locked bool not null default false,
  password_hash text not null,
  added_at timestamptz not null default date_trunc('milliseconds', now())
);
create unique index operator_name on operator (lower(name));

create table operator_session (
  id bigint generated always as identity primary key,
  hash text not null unique,                      -- SHA-256 of the token that the browser stores
  operator_id int not null references operator,
  opened_under bytea not null,                    -- digest of the operator's password_hash
  second_factor bool not null,                    -- true: a second factor was used
  opened_at timestamptz not null default now(),
  used_at timestamptz not null default now(),     -- precise to a minute
  agent text not null,
  address text not null,                          -- '': unknown
  acts_as int references account,                 -- account as which the operator acts; null: none
  acts_until timestamptz
);
create index operator_session_operator on operator_session (operator_id);
