alter table bulk_send add column failed_over_at timestamptz; -- when a promotion stopped it (P-5); null: never
create index bulk_send_failed_over on bulk_send (failed_over_at) where failed_over_at is not null;
