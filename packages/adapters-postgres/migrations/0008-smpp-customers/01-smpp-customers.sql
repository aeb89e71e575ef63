create table smpp_credential (                    -- credentials with which the software of customers binds over SMPP
  id int generated always as identity primary key,
  account_id int not null references account,
  system_id text not null,
  password_hash text not null,
  created_at timestamptz not null,
  rotated_at timestamptz,                         -- time at which the password was last replaced; null: never
  bind_networks text[] not null,                  -- networks from which a client may bind; empty: all
  binds int not null,                             -- maximum of transmitting binds, and of receiving binds
  window_size int not null,
  per_second int not null,
  alphabet0 text not null,                        -- alphabets of data_coding 0 and 1
  alphabet1 text not null,
  country text,                                   -- calling code that completes national numbers; null: none
  idempotent bool not null,
  receipt_offset_minutes int not null             -- offset from UTC of the dates in receipts
);
create unique index smpp_credential_system_id on smpp_credential (lower(system_id collate "C"));
create index smpp_credential_account on smpp_credential (account_id, id);

create table smpp_account (                       -- accounts that have a credential
  account_id int primary key references account,
  replies_by text not null                        -- 'smpp', 'webhook' or 'polling'
);

create unlogged table smpp_process (              -- processes with binds; lost in a crash, then clients bind again
  id uuid primary key,
  seen_at timestamptz not null default now()
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

create unlogged table smpp_bind (
  id uuid primary key,
  process uuid not null,
  credential_id int not null,
  mode text not null,                             -- 'transceiver', 'transmitter' or 'receiver'
  remote text not null,
  version int not null,
  since timestamptz not null default now(),
  last_error text,
  stray_texts bigint not null default 0,          -- submissions with an octet outside the alphabet
  submissions bigint not null default 0,
  probe bool not null default false               -- true: the process is to test the bind with enquire_link
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
create index smpp_bind_credential on smpp_bind (credential_id);
create index smpp_bind_process on smpp_bind (process);

-- Sends whose customers have not been answered yet: no dispatcher claims them until `until`. A process reuses its rows,
-- one for each statement that it has in flight, so that a claim reads few rows.
create table smpp_accept (
  process uuid not null,
  slot int not null,
  until timestamptz not null,
  first_ids bigint[] not null,
  primary key (process, slot)
) with (fillfactor=10, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

create table smpp_part (                          -- parts of texts that customers submitted in parts
  id bigint primary key,                          -- from the sequence of message ids
  account_id int not null,
  text_key uuid not null,                         -- digest of account, number, sender, reference and number of parts
  part smallint not null,                         -- from 1
  total smallint not null,
  msisdn bigint not null,
  stored_at timestamptz not null default now(),
  content json not null,                          -- other fields of core's NewPart; '{}' after the part was decided
  receipts smallint not null default 0,           -- bits of registered_delivery
  credential_id int not null,
  message_id bigint,                              -- message of the joined text
  code smallint,                                  -- final code, if there is no message
  code_at timestamptz
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
create unique index smpp_part_waiting on smpp_part (account_id, text_key, part)
  where message_id is null and code is null;
create index smpp_part_stored on smpp_part (stored_at);
create index smpp_part_msisdn on smpp_part (msisdn);

create table smpp_delivery (                      -- receipts and replies that wait for receiving binds
  id bigint generated always as identity,
  account_id int not null,
  credential_id int,                              -- credential that submitted the message; null: any of the account
  kind smallint not null,                         -- 0 receipt, 1 notification, 2 reply
  subject bigint not null,                        -- id of the message or part; of a reply: of the inbound message
  message_id bigint,                              -- message in whose trace a lost delivery is noted
  send_first_id bigint,                           -- send of the message; null: a part without a message, or a reply
  msisdn bigint,
  code smallint,
  taken bool,                                     -- true: a carrier accepted the message or may have accepted it
  receipts smallint,
  at timestamptz not null,                        -- time of the outcome
  stored_at timestamptz not null default now(),
  due_at timestamptz not null default now(),      -- next attempt; claimed: end of the lease
  process uuid,                                   -- process that has claimed it
  tries smallint not null default 0               -- number of attempts that were begun
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000,
  autovacuum_vacuum_cost_delay=0);
create index smpp_delivery_due on smpp_delivery (account_id, due_at, id);
create index smpp_delivery_subject on smpp_delivery (subject);
create index smpp_delivery_stored on smpp_delivery (stored_at);
create index smpp_delivery_msisdn on smpp_delivery (msisdn) where msisdn is not null;
alter table smpp_delivery add primary key (id);
