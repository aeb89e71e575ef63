// The balance row is as small as it can be and is rewritten in place: nothing that changes is indexed, and nine tenths of its
// page are free. What is only looked up is in `directory`.
export const accounts = `
create table account (
  id int generated always as identity primary key,
  parent_id int references account,
  balance bigint not null check (balance >= 0),   -- tenths of a credit
  locked bool not null default false
) with (fillfactor=10, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
create index account_parent on account (parent_id) where parent_id is not null;

create table directory (
  account_id int primary key references account,
  login text not null,
  first_name text not null,
  surname text not null,
  own_number bigint,                              -- of a trial account; null: no trial
  transactional bool not null,
  password_hash text,
  created_at timestamptz not null,
  from_networks text[] not null default '{}',     -- where the password may be used; none: anywhere
  requests_per_second int,                        -- null: no limit
  recipients_per_second int
);
create unique index directory_login on directory (lower(login collate "C"));

create table api_key (
  id int generated always as identity primary key,
  account_id int not null references account,
  hash text not null unique,
  prefix text not null,
  label text not null,
  issued_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  key_networks text[] not null default '{}'       -- where it may be used; none: anywhere
);
create index api_key_account on api_key (account_id, id);

create unlogged table rate_use (                  -- of accounts with a limit; lost in a crash, which allows a burst
  account_id int not null,
  what smallint not null,                         -- 0: requests, 1: recipients
  paid_off timestamptz not null,                  -- until then what was used makes up for what it had a second
  primary key (account_id, what)
) with (fillfactor=10, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

create unlogged table login_failure (             -- what processes tell each other of failed log-ins; lost in a crash
  id bigint generated always as identity primary key,
  key bytea not null,                             -- a digest of user and network
  counted_by uuid not null,                       -- a process
  failures int not null,
  until timestamptz not null                      -- they do not count from then on
);
create index login_failure_key on login_failure (key, until);

create unlogged table account_rates (             -- what processes tell of their busiest accounts, for the operator; a row for each
  process uuid primary key,
  told_at timestamptz not null,
  accounts int[] not null,
  requests float8[] not null,                     -- this and the next: a second, of each of them
  messages float8[] not null
);

create table login_secret (secret bytea not null);  -- of this deployment: nobody can make its digests elsewhere
insert into login_secret select sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));
`
