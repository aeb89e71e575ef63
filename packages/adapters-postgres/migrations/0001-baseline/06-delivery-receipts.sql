create table unmatched_delivery_receipt (         -- delivery receipts that found no message yet
  id bigint generated always as identity primary key,
  carrier smallint not null,
  carrier_id text not null,
  code smallint not null,
  msisdn bigint,                                  -- this and the next as the delivery receipt tells them
  submitted_at timestamptz,
  at timestamptz not null default now(),
  next_try timestamptz not null default now(),
  tries int not null default 0
);
create index unmatched_delivery_receipt_next_try on unmatched_delivery_receipt (next_try);
create index unmatched_delivery_receipt_carrier_id on unmatched_delivery_receipt (carrier_id);

create table unread_delivery_receipt (            -- delivery receipts that could not be read, the last 10,000
  id bigint generated always as identity primary key,
  carrier text not null,
  carrier_id text,                                -- null: none was found
  msisdn bigint,                                  -- null: the delivery receipt tells none
  text text not null,
  pdu bytea not null,                             -- as it came
  is_message bool not null default false,         -- a message of a person that is no text, and no receipt
  at timestamptz not null default now()
);

create table unknown_reference (                  -- what carriers called unknown, of a day: each is asked for it once
  carrier smallint not null,
  carrier_id text not null,
  at timestamptz not null default now(),
  asked bool not null default false,
  primary key (carrier, carrier_id)
);
create index unknown_reference_not_asked on unknown_reference (carrier, at) where not asked;
