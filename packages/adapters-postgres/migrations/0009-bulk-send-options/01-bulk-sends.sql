alter table bulk_send add column sender text;   -- null: the account's default
alter table bulk_send add column options jsonb; -- options of the send, in the form of core's SendOptions; null: none
alter table bulk_send add column revision int not null default 0; -- changes since the draft was stored
