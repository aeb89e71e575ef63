-- Rows of messages have the id of an address in place of the address.
create table sender (                             -- sender addresses: those in use and those assigned to accounts
  id int generated always as identity primary key,
  address text not null unique,
  account_id int references account,              -- account to which the code is assigned; null: none
  assigned_at timestamptz
);
create index sender_account on sender (account_id) where account_id is not null;

create table allowed_sender (                     -- senders that an account may name in a send
  account_id int not null references account,
  address text not null,
  destinations text[] not null,                   -- prefixes of the numbers that it may be used for; empty: all
  default_for text[] not null,                    -- prefixes of numbers for which it is used if a send names no sender
  carriers text[] not null,                       -- carriers that it is registered with; empty: all
  refuses bool not null,                          -- true: a send that may not use it is refused; false: it is replaced
  primary key (account_id, address)
);

create table chosen_sender (                      -- sender address of the pool that each account uses for a number
  msisdn bigint primary key,
  accounts int[] not null,
  senders int[] not null,                         -- one element for each element of the array above
  since timestamptz not null default now()        -- time of the last change, or of the last check that it is in use
);
create index chosen_sender_since on chosen_sender (since);

create table last_contact (                       -- last sender of dropped messages to a number from an address
  msisdn bigint not null,
  sender int not null,
  account_id int not null,
  message_id bigint not null,
  at timestamptz not null,
  primary key (msisdn, sender)
);
create index last_contact_at on last_contact (at);

-- Replies of opt-outs have a table of their own: with their columns this table looked so wide that claims, without
-- statistics, read all entries of an account.
create table suppression (
  account_id int not null,                        -- 0: all accounts
  msisdn bigint not null,
  kind smallint not null,                         -- SUPPRESSION: 1 opt-out, 2 do-not-contact, 3 blacklist
  since timestamptz not null,
  primary key (account_id, msisdn, kind)
);
-- Every row meets the condition. Only the lists name a kind, so that only they can use this index; the entries of a
-- number are found by the primary key.
create index suppression_list on suppression (account_id, kind, (msisdn::text) collate "C") where kind in (1, 2, 3);

create table opt_out_reply (                      -- reply that made the opt-out of the same time
  account_id int not null,
  msisdn bigint not null,
  since timestamptz not null,
  inbound_message_id bigint,                      -- null: the opt-out was imported with its text
  text text not null,
  answers bigint,
  primary key (account_id, msisdn)
);
create index opt_out_reply_since on opt_out_reply (account_id, since);
