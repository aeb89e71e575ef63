-- Changes made by operators. The hash of a row covers the hash of the previous row, so that no row can be changed or
-- removed unnoticed. The head has the last hash, and its lock makes writers take turns.
create table audit_entry (
  sequence bigint primary key,
  at timestamptz not null,                        -- precise to a millisecond
  ends bigint,                                    -- change whose outcome this row records; null: this row is a change
  record text not null,                           -- JSON, stored as text because the hash covers the text
  hash bytea not null
);
create unique index audit_entry_ends on audit_entry (ends) where ends is not null;
create index audit_entry_account on audit_entry ((record::json ->> 'account'), sequence) where ends is null;

create table audit_head (
  one bool primary key default true check (one),
  sequence bigint not null,
  hash bytea not null
);
insert into audit_head (sequence, hash) values (0, decode(repeat('0', 64), 'hex'));
