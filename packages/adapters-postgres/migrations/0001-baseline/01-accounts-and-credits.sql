-- The balance row is as small as it can be and is rewritten in place: nothing that changes is indexed, and nine tenths
-- of its page are free. What is only looked up is in `directory`.
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
  recipients_per_second int,
  second_factor_required bool not null default false -- of who signs in at the portal
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
  key_networks text[] not null default '{}',      -- where it may be used; none: anywhere
  operation uuid unique                           -- made by who asked for it, to issue it once
);
create index api_key_account on api_key (account_id, id);

create table account_user (                       -- people who sign in at the portal for an account
  id int generated always as identity primary key,
  account_id int not null references account,
  email text not null,
  role text not null check (role in ('owner', 'sender', 'reader')),
  locked bool not null default false,
  password_hash text,                             -- null: none has been chosen yet
  added_at timestamptz not null default date_trunc('milliseconds', now()),
  link_hash text unique,                          -- SHA-256 of a link that sets a password once; null: none
  link_until timestamptz
);
create unique index account_user_email on account_user (lower(email));
create index account_user_account on account_user (account_id);

create table session (                            -- of people who are signed in at the portal
  id bigint generated always as identity primary key,
  hash text not null unique,                      -- SHA-256 of what the browser keeps
  account_id int not null references account,
  user_id int references account_user on delete cascade, -- null: with the account's own password
  opened_under bytea not null,                    -- a digest of the owner's password_hash; of '' if it has none
  second_factor bool not null,                    -- whether one was used
  opened_at timestamptz not null default now(),
  used_at timestamptz not null default now(),     -- to the minute
  agent text not null,
  address text not null                           -- '': not known
);
create index session_account on session (account_id);
create index session_of_user on session (user_id);

create table second_factor (                      -- of people who sign in at the portal
  owner text primary key,                         -- 'account 3', 'user 5', 'operator 7'
  secret text not null,                           -- of the authenticator, sealed
  since timestamptz not null default clock_timestamp(),
  step bigint not null,                           -- the last time step that was used: none before it any more
  recovery_codes text[] not null                  -- SHA-256 of those that are left
);

create table sign_in_link (                       -- opens a session once; a used one is gone
  hash text primary key,                          -- SHA-256 of what the link has
  account_id int not null references account,
  until timestamptz not null
);

create unlogged table rate_use (                  -- of accounts with a limit; lost in a crash, which allows a burst
  account_id int not null,
  what smallint not null,                         -- RATED: 0 requests, 1 recipients
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

create unlogged table account_rates (             -- busiest accounts, as each process tells of them
  process uuid primary key,
  told_at timestamptz not null,
  accounts int[] not null,
  requests float8[] not null,                     -- this and the next: a second, of each of them
  messages float8[] not null
);

create table login_secret (secret bytea not null);  -- of this deployment: nobody can make its digests elsewhere
insert into login_secret select sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));

create table ledger (                             -- balance = sum(ledger.amount) - sum(send.n * send.price)
  id bigint generated always as identity primary key,
  account_id int not null,
  kind smallint not null,                         -- LEDGER: 1 topUp, 2 transfer, 3 refund, 4 droppedSends
  amount bigint not null,
  send_first_id bigint,
  at timestamptz not null default now(),
  code smallint,                                  -- of a refund: the final code of its messages
  other_account_id int,                           -- of a transfer: where to, or where from
  why text,                                       -- what the operator said; of dropped sends: which
  message_id bigint,                              -- of a refund by hand: its message
  operation uuid                                  -- made by the caller, who looks up what became of it
);
create index ledger_account on ledger (account_id, id);
create unique index ledger_top_up on ledger (operation) where kind = 1 /* LEDGER.topUp */ and operation is not null;

create table price (                              -- of one part of a message, by number prefix
  prefix text primary key,
  price int not null check (price >= 0)           -- tenths of a credit
);
create table account_price (                      -- of one account: comes before every row of price
  account_id int not null references account,
  prefix text not null,
  price int not null check (price >= 0),
  primary key (account_id, prefix)
);
insert into price (prefix, price) values ('', 10);

-- Keys of clients are as long as they like; 16 bytes and one column are looked up for a third less. The digest tells
-- whether a request that comes again is the same.
create table client_request (                     -- answers to requests with an idempotency key, 48 hours
  account_id int not null,                        -- who asked
  key uuid primary key,                           -- 128 bits of SHA-256 of the account and its key
  digest uuid not null,                           -- 128 bits of SHA-256 of what was asked for
  at timestamptz not null default now(),
  balance bigint,                                 -- of a send: right after it
  answer text not null                            -- of a send: ids, costs and refusals; of a transfer: its result
);
create index client_request_at on client_request (at);
