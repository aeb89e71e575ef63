-- What operators have changed. A row is hashed with the hash of the row before, so that none can be changed or removed
-- unseen; the head tells which was the last one, and makes writers take turns.
create table audit_entry (
  sequence bigint primary key,
  at timestamptz not null,                        -- to the millisecond
  ends bigint,                                    -- the change that this row is the outcome of; null: a change
  record text not null,                           -- JSON; as text, since the hash is over it
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
