create sequence id_block minvalue 0 start 0;      -- block b: ids b*10,000 .. b*10,000+9,999; 0 itself is not used
create table id_lease (                           -- leases of blocks, by which retention sees when a block is full
  block bigint primary key,
  at timestamptz not null default now(),
  kept bool not null default false                -- true: last_contact has all contacts of the block
);
create table id_share (                           -- block of ids that short-lived processes share
  only_row bool primary key default true check (only_row),
  next bigint not null,
  hi bigint not null,
  at timestamptz not null
);
insert into id_share (next, hi, at) values (0, 0, '-infinity');

create table send (                               -- ids first_id .. first_id+n-1; never updated; each row is a debit
  first_id bigint primary key,
  created_at timestamptz not null default now(),
  scheduled_at timestamptz,                       -- null: to be sent at once, or the requested time was past
  n int not null,
  account_id int not null,
  sender int not null default 0,                  -- sender.id; 0: unknown
  price int not null,                             -- tenths of a credit for one message with all its parts
  parts smallint not null default 1,
  route smallint not null default 0,              -- route.id at the time of acceptance; 0: any carrier
  priority smallint not null default 0,           -- 0 to 3, among the messages of the account
  flash bool not null default false,              -- flash message (class 0): the phone shows it and does not store it
  confirms_opt_out bool not null default false,   -- true: confirmation of an opt-out; replies are not matched to it
  expires_at timestamptz,                         -- when a waiting message ends as 101; null: dispatchers' default
  body text not null,
  msisdns bigint[] not null,
  client_references text[],                       -- one element for each element of msisdns; null: no message has one
  check (n > 0 and first_id/10000 = (first_id+n-1)/10000)
) partition by range (first_id);
alter table send alter msisdns set storage external;
create index send_account on send (account_id, created_at); -- for the lists of the account holder
create index send_client_references on send using gin (client_references) where client_references is not null;

create table carrier (
  id smallint generated always as identity primary key,
  name text not null unique,                      -- '' has the id 0 and stands for no carrier
  receipt_form text                               -- form of the ids in receipts; null: not learned yet
);
insert into carrier (id, name) overriding system value values (0, '');

create table message (                            -- inserted when the outcome of the submission is known
  id bigint primary key,
  send_first_id bigint not null,
  msisdn bigint not null,
  sent_at timestamptz not null default now(),
  code_at timestamptz,
  account_id int not null,
  sender int not null default 0,                  -- sender and confirms_opt_out are copied from the send
  carrier smallint not null default 0,
  code smallint not null,
  parts_undelivered smallint not null default 0,  -- parts in message_part; 0: the message has one part, with carrier_id
  confirms_opt_out bool not null default false,
  refunded bool not null default false,           -- true: refunded by hand, so a later outcome refunds nothing
  carrier_id text                                 -- id given by the carrier for the first part; null: none or unknown
) partition by range (id);
create index message_carrier_id on message (carrier_id);
create index message_msisdn on message (msisdn);

create table message_part (                       -- parts of messages that a carrier accepted as several parts
  id bigint not null,                             -- id of the message
  part smallint not null,                         -- from 1
  msisdn bigint not null,                         -- msisdn, carrier and sent_at are copied from the message
  sent_at timestamptz not null default now(),
  code_at timestamptz,                            -- null: no receipt has arrived
  carrier smallint not null,
  code smallint not null,
  carrier_id text not null,
  primary key (id, part)
) partition by range (id);
create index message_part_carrier_id on message_part (carrier_id);

create table outcome_sum (                        -- numbers of messages by day of submission and outcome
  account_id int not null,
  day int not null,                               -- day of message.sent_at: days since 1970 in gateway time
  carrier smallint not null,
  code smallint not null,
  messages bigint not null,
  primary key (account_id, day, carrier, code)
);
create index outcome_sum_day on outcome_sum (day);

create table outcome_change (                     -- changes not yet added to outcome_sum, whose rows nobody waits for
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

create table incident (                           -- rare events, for the trace of a message
  id bigint generated always as identity primary key,
  message_id bigint not null,
  at timestamptz not null default now(),
  what text not null,
  carrier smallint not null default 0             -- carrier that caused it; 0: none
);
create index incident_message on incident (message_id);
