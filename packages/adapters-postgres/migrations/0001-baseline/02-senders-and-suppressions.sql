-- A number instead of the address is all that a row of a message carries.
create table sender (                             -- every address that messages leave from, or that is an account's
  id int generated always as identity primary key,
  address text not null unique,
  account_id int references account,              -- whose short or long code it is; null: no account's
  assigned_at timestamptz
);
create index sender_account on sender (account_id) where account_id is not null;

create table allowed_sender (                     -- what an account may name as the sender of its messages
  account_id int not null references account,
  address text not null,
  destinations text[] not null,                   -- prefixes of the numbers that it may be used for; none: all
  default_for text[] not null,                    -- prefixes of those that it is used for where a send names none
  carriers text[] not null,                       -- that it is registered with; none: all
  refuses bool not null,                          -- where it is not allowed: refused; else replaced
  primary key (account_id, address)
);

create table chosen_sender (                      -- by which address of the pool a number hears each account
  msisdn bigint primary key,
  accounts int[] not null,
  senders int[] not null,                         -- of each account, in the same place
  since timestamptz not null default now()        -- when it was last changed, or seen to be in use still
);
create index chosen_sender_since on chosen_sender (since);

create table last_contact (                       -- of dropped messages: who wrote last to a number from an address
  msisdn bigint not null,
  sender int not null,
  account_id int not null,
  message_id bigint not null,
  at timestamptz not null,
  primary key (msisdn, sender)
);
create index last_contact_at on last_contact (at);

-- The replies of opt-outs are beside their table: columns made it look so wide that claims, without statistics, read
-- all entries of an account.
create table suppression (
  account_id int not null,                        -- 0: everybody
  msisdn bigint not null,
  kind smallint not null,                         -- SUPPRESSION: 1 opt-out, 2 do-not-contact, 3 blacklist
  since timestamptz not null,
  primary key (account_id, msisdn, kind)
);
-- Every row meets the condition, which keeps this index for the lists, which name a kind: the entries of a number are
-- found by the primary key.
create index suppression_list on suppression (account_id, kind, (msisdn::text) collate "C") where kind in (1, 2, 3);

create table opt_out_reply (                      -- the reply that made the opt-out of the same moment
  account_id int not null,
  msisdn bigint not null,
  since timestamptz not null,
  inbound_message_id bigint,                      -- null: imported with its text
  text text not null,
  answers bigint,
  primary key (account_id, msisdn)
);
create index opt_out_reply_since on opt_out_reply (account_id, since);
