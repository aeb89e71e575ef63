-- Messages that no return-once call has returned are in a table of their own, whose rows are only inserted and deleted:
-- a call that finds nothing does not read over returned ones. Each kind of call has an index of its own.
create table inbound_message (                    -- messages from people
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  account_id int,                                 -- null: belongs to no account
  short_code int,                                 -- sender.id of the code that it was sent to; null: none
  answers bigint,                                 -- message that it answers
  carrier smallint not null,
  from_address text not null,
  to_address text,
  text text not null
);
create index inbound_message_list on inbound_message (account_id, at, id) include (short_code)
  where account_id is not null;
create index inbound_message_unowned on inbound_message (at, id) where account_id is null;

create index inbound_message_conversation on inbound_message (account_id, from_address, id) where account_id is not null;

create table conversation (                       -- conversation of an account with a person
  account_id int not null,
  from_address text not null,
  last_id bigint not null,                        -- inbound_message.id of the latest message
  last_at timestamptz not null,
  arrived bigint not null,                        -- messages that arrived since the conversation began
  read bigint not null default 0,                 -- number of these that were read
  primary key (account_id, from_address)
);
create index conversation_last on conversation (account_id, last_id);
create index conversation_unread on conversation (account_id, last_id) where arrived > read;

create table inbound_message_offered (            -- messages that no return-once call has returned
  account_id int not null,
  at timestamptz not null,
  inbound_message_id bigint not null,
  to_code bool not null,                          -- true: sent to a short code
  primary key (account_id, at, inbound_message_id)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
create index inbound_message_offered_reply on inbound_message_offered (account_id, at, inbound_message_id)
  where not to_code;
create index inbound_message_offered_code on inbound_message_offered (account_id, at, inbound_message_id) where to_code;

create table inbound_message_taken (              -- messages that a call returned; they can be offered again for a day
  operation uuid primary key,
  account_id int not null,
  inbound_message_ids bigint[] not null,
  at timestamptz not null default now()
);
create index inbound_message_taken_at on inbound_message_taken (at);

create table inbound_message_seen (               -- deduplication keys, for 24 hours
  key uuid primary key,                           -- digest; random if the message cannot be a repetition
  at timestamptz not null default now(),
  operation uuid not null                         -- call that stored it; a repeated call recognizes its own rows
);
create index inbound_message_seen_at on inbound_message_seen (at);

create table inbound_message_parts (              -- parts of texts that wait for other parts
  key uuid primary key,                           -- digest of carrier, addresses, group and number of parts
  common text not null,                           -- JSON of the fields that the parts share
  parts text not null default '[]',               -- JSON of numbers and texts; a text may end within a character
  last timestamptz not null default now()
);
create index inbound_message_parts_last on inbound_message_parts (last);
