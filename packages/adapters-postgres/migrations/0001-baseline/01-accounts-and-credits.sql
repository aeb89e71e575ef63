-- The row of the balance is small and is rewritten in place: no changing column is indexed, and nine tenths of each
-- page are free. Columns that are only looked up are in `directory`.
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
  own_number bigint,                              -- number of the holder of a trial account; null: not a trial account
  transactional bool not null,
  password_hash text,
  created_at timestamptz not null,
  from_networks text[] not null default '{}',     -- networks in which the password is valid; empty: all
  requests_per_second int,                        -- null: no limit
  recipients_per_second int,
  second_factor_required bool not null default false -- for signing in at the portal
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
  key_networks text[] not null default '{}',      -- networks in which the key is valid; empty: all
  operation uuid unique                           -- id made by the caller, so that a repeated call issues one key
);
create index api_key_account on api_key (account_id, id);

create table account_user (                       -- people who sign in at the portal for an account
  id int generated always as identity primary key,
  account_id int not null references account,
  email text not null,
  role text not null check (role in ('owner', 'sender', 'reader')),
  locked bool not null default false,
  password_hash text,                             -- null: the user has not chosen a password yet
  added_at timestamptz not null default date_trunc('milliseconds', now()),
  link_hash text unique,                          -- SHA-256 of a link that sets a password once; null: no link
  link_until timestamptz
);
create unique index account_user_email on account_user (lower(email));
create index account_user_account on account_user (account_id);

create table session (                            -- sessions at the portal
  id bigint generated always as identity primary key,
  hash text not null unique,                      -- SHA-256 of the token that the browser stores
  account_id int not null references account,
  user_id int references account_user on delete cascade, -- null: signed in with the account's own password
  opened_under bytea not null,                    -- digest of the owner's password_hash, or of '' if there is none
  second_factor bool not null,                    -- true: a second factor was used
  opened_at timestamptz not null default now(),
  used_at timestamptz not null default now(),     -- precise to a minute
  agent text not null,
  address text not null                           -- '': unknown
);
create index session_account on session (account_id);
create index session_of_user on session (user_id);

create table second_factor (                      -- second factors of people who sign in at the portal
  owner text primary key,                         -- 'account 3', 'user 5', 'operator 7'
  secret text not null,                           -- secret of the authenticator, encrypted
  since timestamptz not null default clock_timestamp(),
  step bigint not null,                           -- last time step that was used; earlier ones are refused
  recovery_codes text[] not null                  -- SHA-256 of the unused codes
);

create table sign_in_link (                       -- each opens one session; deleted when it is used
  hash text primary key,                          -- SHA-256 of the secret in the link
  account_id int not null references account,
  until timestamptz not null
);

create unlogged table rate_use (                  -- use of rate limits; lost in a crash, which allows a burst
  account_id int not null,
  what smallint not null,                         -- RATED: 0 requests, 1 recipients
  paid_off timestamptz not null,                  -- time until which the used units exhaust the limit
  primary key (account_id, what)
) with (fillfactor=10, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

create unlogged table login_failure (             -- failed log-ins, shared by all processes; lost in a crash
  id bigint generated always as identity primary key,
  key bytea not null,                             -- digest of user and network
  counted_by uuid not null,                       -- process that counted it
  failures int not null,
  until timestamptz not null                      -- the failures count until this time
);
create index login_failure_key on login_failure (key, until);

create unlogged table account_rates (             -- rates of the busiest accounts, as each process reports them
  process uuid primary key,
  told_at timestamptz not null,
  accounts int[] not null,
  requests float8[] not null,                     -- requests and messages a second of each account
  messages float8[] not null
);

create table login_secret (secret bytea not null);  -- secret of the deployment, for digests of log-in failures
insert into login_secret select sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));

create table ledger (                             -- balance = sum(ledger.amount) - sum(send.n * send.price)
  id bigint generated always as identity primary key,
  account_id int not null,
  kind smallint not null,                         -- LEDGER: 1 topUp, 2 transfer, 3 refund, 4 droppedSends
  amount bigint not null,
  send_first_id bigint,
  at timestamptz not null default now(),
  code smallint,                                  -- of a refund: final code of the messages
  other_account_id int,                           -- of a transfer: the other account
  why text,                                       -- reason given by the operator; of dropped sends: which sends
  message_id bigint,                              -- of a refund by hand: the message
  operation uuid                                  -- id made by the caller, for looking up whether the entry exists
);
create index ledger_account on ledger (account_id, id);
create unique index ledger_top_up on ledger (operation) where kind = 1 /* LEDGER.topUp */ and operation is not null;

create table price (                              -- price of one part of a message, by number prefix
  prefix text primary key,
  price int not null check (price >= 0)           -- tenths of a credit
);
create table account_price (                      -- prices of one account, used in place of all rows of price
  account_id int not null references account,
  prefix text not null,
  price int not null check (price >= 0),
  primary key (account_id, prefix)
);
insert into price (prefix, price) values ('', 10);

-- Clients choose keys of any length; a lookup by one column of 16 bytes costs a third less. The digest shows whether a
-- repeated request is the same one.
create table client_request (                     -- answers to requests with an idempotency key, 48 hours
  account_id int not null,                        -- account of the request
  key uuid primary key,                           -- 128 bits of SHA-256 of account and idempotency key
  digest uuid not null,                           -- 128 bits of SHA-256 of the request
  at timestamptz not null default now(),
  balance bigint,                                 -- of a send: balance right after it
  answer text not null                            -- of a send: ids, costs and refusals; of a transfer: the result
);
create index client_request_at on client_request (at);
