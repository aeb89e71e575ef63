export const deliveryReceipts = `
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
`
