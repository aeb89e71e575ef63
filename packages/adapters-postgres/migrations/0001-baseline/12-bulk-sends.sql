-- Bulk sends: their recipients wait here until they are accepted as messages, in calls with an idempotency key each.
create table bulk_send (
  id bigint generated always as identity primary key,
  account_id int not null references account,
  state text not null default 'draft' check (state in ('draft', 'running', 'stopping', 'ended')),
  columns text[] not null,                        -- names of the fields of the text
  text text not null,
  scheduled_at timestamptz,                       -- null: send at once
  key text not null,                              -- prefix of the idempotency keys of the calls
  created_at timestamptz not null default date_trunc('milliseconds', now()),
  started_at timestamptz,
  due_at timestamptz not null default now()       -- earliest time at which a process may claim the next call
);
create index bulk_send_account on bulk_send (account_id, id);
create index bulk_send_due on bulk_send (due_at, id) where state in ('running', 'stopping');

create table bulk_send_call (
  send_id bigint not null references bulk_send on delete cascade,
  call int not null,
  recipients jsonb not null,                      -- all rows; after the call has ended, rows without a message
  count int not null,                             -- rows without repetitions
  repeated int not null,
  accepted jsonb,                                 -- first and last id of each run; null: the call has not ended
  messages int not null default 0,
  cost int not null default 0,
  primary key (send_id, call)
);
