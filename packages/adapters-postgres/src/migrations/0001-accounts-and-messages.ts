import type { Migration } from './migration.ts'

// The balance row of an account is as small as it can be and is rewritten in place (no index on what changes, nine tenths
// of its page free): all that is only looked up is in `directory`.
const accounts = `
create table account (
  id int generated always as identity primary key,
  parent_id int references account,
  balance bigint not null check (balance >= 0),   -- tenths of a credit
  locked bool not null default false
) with (fillfactor=10, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

create table directory (
  account_id int primary key references account,
  login text not null,
  first_name text not null,
  surname text not null,
  own_number bigint,                              -- of a trial account; null: no trial
  transactional bool not null,
  password_hash text,
  created_at timestamptz not null
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
  revoked_at timestamptz
);
create index api_key_account on api_key (account_id, id);

create table ledger (                             -- all but the debits of sends: balance = sum(ledger.amount) - sum(send.n * send.price)
  id bigint generated always as identity primary key,
  account_id int not null,
  kind smallint not null,                         -- 1 top-up, 2 transfer, 3 refund, 4 debits of a dropped partition
  amount bigint not null,
  send_first_id bigint,
  at timestamptz not null default now(),
  why text
);
create index ledger_account on ledger (account_id, id);

create table price (                              -- of one part of a message, by number prefix
  prefix text primary key,
  price int not null check (price >= 0)           -- tenths of a credit
);
insert into price (prefix, price) values ('', 10);

create table suppression (
  account_id int not null,                        -- 0: everybody
  msisdn bigint not null,
  kind smallint not null,                         -- 1 opt-out, 2 do-not-contact, 3 blacklist
  since timestamptz not null,
  primary key (account_id, msisdn, kind)
);
create index suppression_list on suppression (account_id, kind, (msisdn::text) collate "C");

create table client_request (                     -- the first answer to a request that its client may repeat
  account_id int not null,
  key text not null,
  request_hash text not null,
  answer jsonb not null,
  at timestamptz not null default now(),
  primary key (account_id, key)
);
`

// Waiting work is ranges of ids: the table that holds a range is its state. Rows of due and later are deleted and
// inserted, never updated.
const waiting = `
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

create sequence dispatcher_epoch;
create table dispatcher (
  id bigint primary key,
  lease_until timestamptz not null
) with (fillfactor=20);

create table flight (                             -- a claimed slice
  dispatcher bigint not null,
  seq int not null,
  carrier smallint not null,
  marked int not null,                            -- so many of the ids, from the front, may have left
  ids bigint[] not null,                          -- ascending = order of submission; null: settled or given back
  firsts bigint[] not null,                       -- the send of each id; one element: the same for all
  attempts smallint[],                            -- null: all 0
  primary key (dispatcher, seq)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500, autovacuum_vacuum_cost_delay=0);
-- A mark does not rewrite what is in TOAST.
alter table flight alter ids set storage external, alter firsts set storage external;
`

const messages = `
create sequence id_block minvalue 0 start 0;      -- block b: ids b*10,000 .. b*10,000+9,999; 0 itself is not used
create table id_lease (                           -- who may still write into old ids: retention looks here
  block bigint primary key,
  at timestamptz not null default now()
);
create table id_share (                           -- the block that short-lived processes take their ids from
  only_row bool primary key default true check (only_row),
  next bigint not null,
  hi bigint not null,
  at timestamptz not null
);
insert into id_share (next, hi, at) values (0, 0, '-infinity');

create table send (                               -- one text to many numbers, ids first_id .. first_id+n-1; append only; the debit
  first_id bigint primary key,
  created_at timestamptz not null default now(),
  scheduled_at timestamptz,                       -- null: at once, or its time was past
  n int not null,
  account_id int not null,
  sender int not null default 0,                  -- the address that it comes from; 0: the carrier's own
  price int not null,                             -- tenths of a credit for one message, all parts
  parts smallint not null default 1,
  body text not null,
  msisdns bigint[] not null,
  check (n > 0 and first_id/10000 = (first_id+n-1)/10000)
) partition by range (first_id);
alter table send alter msisdns set storage external;

create table carrier (
  id smallint generated always as identity primary key,
  name text not null unique                       -- '' is number 0: none
);
insert into carrier (id, name) overriding system value values (0, '');

create table message (                            -- born when the outcome of the hand-over is known
  id bigint primary key,
  send_first_id bigint not null,
  msisdn bigint not null,
  sent_at timestamptz not null default now(),
  code_at timestamptz,
  account_id int not null,
  sender int not null default 0,
  carrier smallint not null default 0,
  code smallint not null,
  carrier_id text                                 -- null: never accepted, or unknown (106, until adopted)
) partition by range (id);
create index message_carrier_id on message (carrier_id);
create index message_msisdn on message (msisdn);

create table orphan_receipt (                     -- receipts that found no message yet
  id bigint generated always as identity primary key,
  carrier smallint not null,
  carrier_id text not null,
  code smallint not null,
  msisdn bigint,                                  -- this and the next as the receipt tells them
  submitted_at timestamptz,
  at timestamptz not null default now(),
  next_try timestamptz not null default now(),
  tries int not null default 0
);
create index orphan_receipt_next_try on orphan_receipt (next_try);

create table incident (                           -- what is rare and tells a story
  id bigint generated always as identity primary key,
  message_id bigint not null,
  at timestamptz not null default now(),
  what text not null
);
create index incident_message on incident (message_id);
`

// New partitions are attached, not created in place: "create ... partition of" would stop every statement behind the
// slowest reader. Making a pair takes 6 ms; leasing a block 0.5 ms, once per 10,000 ids.
const ids = `
create function add_partition(k bigint) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock('send'::regclass::oid::bigint);
  if to_regclass('send_p'||k) is not null then return; end if;
  execute format('create table message_p%s (like message including all, constraint ids check (id >= %s and id < %s)) with (fillfactor=45)', k, k*5000000, (k+1)*5000000);
  execute format('create table send_p%s (like send including all, constraint ids check (first_id >= %s and first_id < %s))', k, k*5000000, (k+1)*5000000);
  execute format('alter table message attach partition message_p%s for values from (%s) to (%s)', k, k*5000000, (k+1)*5000000);
  execute format('alter table send attach partition send_p%s for values from (%s) to (%s)', k, k*5000000, (k+1)*5000000);
end $$;

-- A block of ids for one process, which gives it up after an hour. Its partition and the two after it exist from now on.
create function lease_block(out lo bigint, out hi bigint) language plpgsql as $$
declare b bigint := nextval('id_block');
begin
  insert into id_lease(block) values (b);
  for k in b/500 .. b/500+2 loop
    if to_regclass('send_p'||k) is null then perform add_partition(k); end if;
  end loop;
  lo := greatest(b*10000,1); hi := (b+1)*10000;
end $$;

-- The next p_count ids (at most 10,000) of the block that short-lived processes share.
create function lease_shared(p_count int, out lo bigint, out hi bigint) language plpgsql as $$
declare s id_share;
begin
  select * into s from id_share for update;
  if s.next + p_count > s.hi or s.at < now() - interval '1 hour' then
    select l.lo, l.hi, now() into s.next, s.hi, s.at from lease_block() l;
  end if;
  lo := s.next; hi := least(s.next + p_count, s.hi);
  update id_share set next = lease_shared.hi, hi = s.hi, at = s.at;
end $$;

select add_partition(k) from generate_series(0, 2) k;
`

export const accountsAndMessages: Migration = {
  version: 1,
  name: 'accounts-and-messages',
  sql: accounts + waiting + messages + ids,
}
