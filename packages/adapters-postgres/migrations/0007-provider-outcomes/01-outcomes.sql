-- What a carrier charges for a message, as it writes it; null: it has named no price.
alter table message add column carrier_price text, -- decimal number without a sign
  add column carrier_currency text;               -- three letters

alter table unmatched_delivery_receipt add column message_id bigint, -- message that the receipt names by our own id
  add column own_id_tag int,                      -- tag of that id
  add column of_part bool not null default false, -- true: a receipt with our own id reports on one part
  add column carrier_price text,                  -- as in message
  add column carrier_currency text;
create index unmatched_delivery_receipt_message on unmatched_delivery_receipt (message_id) where message_id is not null;

-- For messages of unknown outcome that are repeated, and for the share of those that are resolved.
create index incident_unknown on incident (at)
  where what in ('recovered', 'unknown', 'late', 'adopted', 'named by own id');
