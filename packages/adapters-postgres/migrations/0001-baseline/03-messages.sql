create sequence id_block minvalue 0 start 0;      -- block b: ids b*10,000 .. b*10,000+9,999; 0 itself is not used
create table id_lease (                           -- who may still write into old ids: retention looks here
  block bigint primary key,
  at timestamptz not null default now(),
  kept bool not null default false                -- last_contact knows all of this block
);
create table id_share (                           -- the block that short-lived processes take their ids from
  only_row bool primary key default true check (only_row),
  next bigint not null,
  hi bigint not null,
  at timestamptz not null
);
insert into id_share (next, hi, at) values (0, 0, '-infinity');

create table send (                               -- ids first_id .. first_id+n-1; append only; the debit
  first_id bigint primary key,
  created_at timestamptz not null default now(),
  scheduled_at timestamptz,                       -- null: at once, or its time was past
  n int not null,
  account_id int not null,
  sender int not null default 0,                  -- sender.id; 0: none known
  price int not null,                             -- tenths of a credit for one message, all parts
  parts smallint not null default 1,
  route smallint not null default 0,              -- route.id when it was accepted; 0: any carrier
  priority smallint not null default 0,           -- 0 to 3 within its account
  flash bool not null default false,              -- shown at once, and not kept by the phone
  confirms_opt_out bool not null default false,   -- nobody's last word to a number
  expires_at timestamptz,                         -- ends as 101 if it waits then; null: by the setting of dispatchers
  body text not null,
  msisdns bigint[] not null,
  client_references text[],                       -- of the messages, in the same place; null: none has one
  check (n > 0 and first_id/10000 = (first_id+n-1)/10000)
) partition by range (first_id);
alter table send alter msisdns set storage external;
create index send_account on send (account_id, created_at); -- for lists of the account holder
create index send_client_references on send using gin (client_references) where client_references is not null;

create table carrier (
  id smallint generated always as identity primary key,
  name text not null unique,                      -- '' is number 0: none
  receipt_form text                               -- how it writes ids in receipts; null: not learned
);
insert into carrier (id, name) overriding system value values (0, '');

create table message (                            -- born when the outcome of the hand-over is known
  id bigint primary key,
  send_first_id bigint not null,
  msisdn bigint not null,
  sent_at timestamptz not null default now(),
  code_at timestamptz,
  account_id int not null,
  sender int not null default 0,                  -- this and confirms_opt_out as of its send
  carrier smallint not null default 0,
  code smallint not null,
  parts_undelivered smallint not null default 0,  -- of the parts in message_part; 0: its carrier_id alone counts
  confirms_opt_out bool not null default false,
  refunded bool not null default false,           -- by hand: what becomes of it later refunds nothing more
  carrier_id text                                 -- of its first part; null: not accepted, or unknown
) partition by range (id);
create index message_carrier_id on message (carrier_id);
create index message_msisdn on message (msisdn);

create table message_part (                       -- of texts that a carrier took as several parts
  id bigint not null,                             -- of its message
  part smallint not null,                         -- from 1
  msisdn bigint not null,                         -- this, carrier and sent_at as of its message
  sent_at timestamptz not null default now(),
  code_at timestamptz,                            -- null: no receipt has come
  carrier smallint not null,
  code smallint not null,
  carrier_id text not null,
  primary key (id, part)
) partition by range (id);
create index message_part_carrier_id on message_part (carrier_id);

create table outcome_sum (                        -- messages by the day of their hand-over and their state
  account_id int not null,
  day int not null,                               -- days since 1970 in gateway time, of message.sent_at
  carrier smallint not null,
  code smallint not null,
  messages bigint not null,
  primary key (account_id, day, carrier, code)
);
create index outcome_sum_day on outcome_sum (day);

create table outcome_change (                     -- what outcome_sum lacks: nobody waits for a row of sums
  account_id int not null,
  day int not null,
  carrier smallint not null,
  code smallint not null,
  change int not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

create trigger count_inserted after insert on message referencing new table as after
  for each statement execute function count_outcomes();
create trigger count_updated after update on message referencing old table as before new table as after
  for each statement execute function count_outcomes();

create table incident (                           -- what is rare, for the trace of a message
  id bigint generated always as identity primary key,
  message_id bigint not null,
  at timestamptz not null default now(),
  what text not null,
  carrier smallint not null default 0             -- that did it; 0: none
);
create index incident_message on incident (message_id);
