-- Price that the carrier names for a message, as the carrier writes it; null if it named none.
alter table message add column carrier_price text, -- decimal number without a sign
  add column carrier_currency text;               -- three letters

-- No column is named message_id, because match-receipts of 0.2.0 computes a column of that name beside all of these.
alter table unmatched_delivery_receipt
  add column named_message_id bigint,             -- message that the receipt names by our own id
  add column own_id_tag int,                      -- tag of that id
  add column of_part bool not null default false, -- true: a receipt with our own id reports on one part
  add column carrier_price text,                  -- as in message
  add column carrier_currency text;
create index unmatched_delivery_receipt_named on unmatched_delivery_receipt (named_message_id)
  where named_message_id is not null;

-- For messages of unknown outcome that are repeated, and for the share of those that are resolved.
create index incident_unknown on incident (at)
  where what in ('recovered', 'unknown', 'late', 'adopted', 'named by own id');
