create table unmatched_delivery_receipt (         -- delivery receipts whose message was not found yet
  id bigint generated always as identity primary key,
  carrier smallint not null,
  carrier_id text not null,
  code smallint not null,
  msisdn bigint,                                  -- number and time as in the receipt
  submitted_at timestamptz,
  at timestamptz not null default now(),
  next_try timestamptz not null default now(),
  tries int not null default 0
);
create index unmatched_delivery_receipt_next_try on unmatched_delivery_receipt (next_try);
create index unmatched_delivery_receipt_carrier_id on unmatched_delivery_receipt (carrier_id);

create table unread_delivery_receipt (            -- delivery receipts that could not be read; the latest 10,000
  id bigint generated always as identity primary key,
  carrier text not null,
  carrier_id text,                                -- null: none was found
  msisdn bigint,                                  -- null: the receipt has none
  text text not null,
  pdu bytea not null,                             -- the received PDU, unchanged
  is_message bool not null default false,         -- true: not a receipt but a person's message without a text
  at timestamptz not null default now()
);

create table unknown_reference (                  -- messages unknown to carriers, for a day; each is queried once
  carrier smallint not null,
  carrier_id text not null,
  at timestamptz not null default now(),
  asked bool not null default false,
  primary key (carrier, carrier_id)
);
create index unknown_reference_not_asked on unknown_reference (carrier, at) where not asked;
