-- What the calls that return once still have to return is in a table of its own, of which rows are only inserted and
-- deleted: a call that finds nothing does not walk over what was taken. Each way of asking has an index of its own.
create table inbound_message (                    -- what people wrote
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  account_id int,                                 -- null: no account's
  short_code int,                                 -- sender.id of the code that it was sent to; or null
  answers bigint,                                 -- the message that it answers
  carrier smallint not null,
  from_address text not null,
  to_address text,
  text text not null
);
create index inbound_message_list on inbound_message (account_id, at, id) include (short_code)
  where account_id is not null;
create index inbound_message_unowned on inbound_message (at, id) where account_id is null;

create index inbound_message_conversation on inbound_message (account_id, from_address, id) where account_id is not null;

create table conversation (                       -- with a person who wrote to an account
  account_id int not null,
  from_address text not null,
  last_id bigint not null,                        -- inbound_message.id of the latest message
  last_at timestamptz not null,
  arrived bigint not null,                        -- so many messages came since it began
  read bigint not null default 0,                 -- so many of these are read
  primary key (account_id, from_address)
);
create index conversation_last on conversation (account_id, last_id);
create index conversation_unread on conversation (account_id, last_id) where arrived > read;

create table inbound_message_offered (            -- what no call that returns once has taken
  account_id int not null,
  at timestamptz not null,
  inbound_message_id bigint not null,
  to_code bool not null,                          -- a short code message
  primary key (account_id, at, inbound_message_id)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
create index inbound_message_offered_reply on inbound_message_offered (account_id, at, inbound_message_id)
  where not to_code;
create index inbound_message_offered_code on inbound_message_offered (account_id, at, inbound_message_id) where to_code;

create table inbound_message_taken (              -- what a call took: for a day it can be offered again
  operation uuid primary key,
  account_id int not null,
  inbound_message_ids bigint[] not null,
  at timestamptz not null default now()
);
create index inbound_message_taken_at on inbound_message_taken (at);

create table inbound_message_seen (               -- deduplication keys, for 24 hours
  key uuid primary key,                           -- a digest; made up where nothing makes two the same
  at timestamptz not null default now(),
  operation uuid not null                         -- the call that stored it: run again, it knows its own
);
create index inbound_message_seen_at on inbound_message_seen (at);

create table inbound_message_parts (              -- parts of a text that wait for the others
  key uuid primary key,                           -- a digest of carrier, addresses, group and parts
  common text not null,                           -- JSON: what they have in common
  parts text not null default '[]',               -- JSON: numbers and texts; may end within a character
  last timestamptz not null default now()
);
create index inbound_message_parts_last on inbound_message_parts (last);
