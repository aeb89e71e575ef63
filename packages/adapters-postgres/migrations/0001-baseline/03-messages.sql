create sequence id_block minvalue 0 start 0;      -- block b: ids b*10,000 .. b*10,000+9,999; 0 itself is not used
create table id_lease (                           -- who may still write into old ids: retention looks here
  block bigint primary key,
  at timestamptz not null default now(),
  kept bool not null default false                -- last_contact knows all of this block
);
create table id_share (                           -- the block that short-lived processes take their ids from
  only_row bool primary key default true check (only_row),
  next bigint not null,
  hi bigint not null,
  at timestamptz not null
);
insert into id_share (next, hi, at) values (0, 0, '-infinity');

create table send (                               -- ids first_id .. first_id+n-1; append only; the debit
  first_id bigint primary key,
  created_at timestamptz not null default now(),
  scheduled_at timestamptz,                       -- null: at once, or its time was past
  n int not null,
  account_id int not null,
  sender int not null default 0,                  -- sender.id; 0: none known
  price int not null,                             -- tenths of a credit for one message, all parts
  parts smallint not null default 1,
  route smallint not null default 0,              -- route.id when it was accepted; 0: any carrier
  priority smallint not null default 0,           -- 0 to 3 within its account
  flash bool not null default false,              -- shown at once, and not kept by the phone
  confirms_opt_out bool not null default false,   -- nobody's last word to a number
  expires_at timestamptz,                         -- ends as 101 if it waits then; null: by the setting of dispatchers
  body text not null,
  msisdns bigint[] not null,
  client_references text[],                       -- of the messages, in the same place; null: none has one
  check (n > 0 and first_id/10000 = (first_id+n-1)/10000)
) partition by range (first_id);
alter table send alter msisdns set storage external;
create index send_account on send (account_id, created_at); -- for lists of the account holder
create index send_client_references on send using gin (client_references) where client_references is not null;

create table carrier (
  id smallint generated always as identity primary key,
  name text not null unique,                      -- '' is number 0: none
  receipt_form text                               -- how it writes ids in receipts; null: not learned
);
insert into carrier (id, name) overriding system value values (0, '');

create table message (                            -- born when the outcome of the hand-over is known
  id bigint primary key,
  send_first_id bigint not null,
  msisdn bigint not null,
  sent_at timestamptz not null default now(),
  code_at timestamptz,
  account_id int not null,
  sender int not null default 0,                  -- this and confirms_opt_out as of its send
  carrier smallint not null default 0,
  code smallint not null,
  parts_undelivered smallint not null default 0,  -- of the parts in message_part; 0: its carrier_id alone counts
  confirms_opt_out bool not null default false,
  refunded bool not null default false,           -- by hand: what becomes of it later refunds nothing more
  carrier_id text                                 -- of its first part; null: not accepted, or unknown
) partition by range (id);
create index message_carrier_id on message (carrier_id);
create index message_msisdn on message (msisdn);

create table message_part (                       -- of texts that a carrier took as several parts
  id bigint not null,                             -- of its message
  part smallint not null,                         -- from 1
  msisdn bigint not null,                         -- this, carrier and sent_at as of its message
  sent_at timestamptz not null default now(),
  code_at timestamptz,                            -- null: no receipt has come
  carrier smallint not null,
  code smallint not null,
  carrier_id text not null,
  primary key (id, part)
) partition by range (id);
create index message_part_carrier_id on message_part (carrier_id);

create table outcome_sum (                        -- messages by the day of their hand-over and their state
  account_id int not null,
  day int not null,                               -- days since 1970 in gateway time, of message.sent_at
  carrier smallint not null,
  code smallint not null,
  messages bigint not null,
  primary key (account_id, day, carrier, code)
);
create index outcome_sum_day on outcome_sum (day);

create table outcome_change (                     -- what outcome_sum lacks: nobody waits for a row of sums
  account_id int not null,
  day int not null,
  carrier smallint not null,
  code smallint not null,
  change int not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

create function gateway_day(at timestamptz) returns int language sql immutable parallel safe as $$
  select (at at time zone 'UTC' + interval '2 hours')::date - date '1970-01-01'
$$;

-- Statement triggers see what the messages were before, which no "returning" tells. Nothing is inserted into a
-- partition by name but by a copy, which brings the sums with it.
create function count_outcomes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into outcome_change (account_id, day, carrier, code, change)
    select account_id, gateway_day(sent_at), carrier, code, count(*)
    from after
    where not confirms_opt_out
    group by 1, 2, 3, 4;
  else
    insert into outcome_change (account_id, day, carrier, code, change)
    select account_id, day, carrier, code, sum(change)
    from (
      select account_id, gateway_day(sent_at) as day, carrier, code, 1 as change from after where not confirms_opt_out
      union all
      select account_id, gateway_day(sent_at), carrier, code, -1 from before where not confirms_opt_out
    ) changes
    group by account_id, day, carrier, code
    having sum(change) <> 0;
  end if;
  return null;
end $$;
create trigger count_inserted after insert on message referencing new table as after
  for each statement execute function count_outcomes();
create trigger count_updated after update on message referencing old table as before new table as after
  for each statement execute function count_outcomes();

create table incident (                           -- what is rare, for the trace of a message
  id bigint generated always as identity primary key,
  message_id bigint not null,
  at timestamptz not null default now(),
  what text not null,
  carrier smallint not null default 0             -- that did it; 0: none
);
create index incident_message on incident (message_id);

-- New partitions are attached, not created in place: "create ... partition of" would stop every statement behind the
-- slowest reader. Making all three takes 9 ms; leasing a block 0.5 ms, once per 10,000 ids.
create function add_partition(k bigint) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock('send'::regclass::oid::bigint);
  if to_regclass('send_p'||k) is not null then return; end if;
  execute format('create table message_p%s (like message including all,
    constraint ids check (id >= %s and id < %s)) with (fillfactor=45)', k, k*5000000, (k+1)*5000000);
  execute format('create table message_part_p%s (like message_part including all,
    constraint ids check (id >= %s and id < %s)) with (fillfactor=80)', k, k*5000000, (k+1)*5000000);
  execute format('create table send_p%s (like send including all,
    constraint ids check (first_id >= %s and first_id < %s))', k, k*5000000, (k+1)*5000000);
  execute format('create trigger count_updated after update on message_p%s referencing old table as before
    new table as after for each statement execute function count_outcomes()', k);
  execute format('alter table message attach partition message_p%s for values from (%s) to (%s)',
    k, k*5000000, (k+1)*5000000);
  execute format('alter table message_part attach partition message_part_p%s for values from (%s) to (%s)',
    k, k*5000000, (k+1)*5000000);
  execute format('alter table send attach partition send_p%s for values from (%s) to (%s)',
    k, k*5000000, (k+1)*5000000);
end $$;

-- A block of ids for one process, which gives it up after an hour. Its partition and the two after it exist then.
create function lease_block(out lo bigint, out hi bigint) language plpgsql as $$
declare b bigint := nextval('id_block');
begin
  insert into id_lease(block) values (b);
  for k in b/500 .. b/500+2 loop
    if to_regclass('send_p'||k) is null then perform add_partition(k); end if;
  end loop;
  lo := greatest(b*10000,1); hi := (b+1)*10000;
end $$;

-- The next p_count ids (at most 10,000) of the block that short-lived processes share.
create function lease_shared(p_count int, out lo bigint, out hi bigint) language plpgsql as $$
declare s id_share;
begin
  select * into s from id_share for update;
  if s.next + p_count > s.hi or s.at < now() - interval '1 hour' then
    select l.lo, l.hi, now() into s.next, s.hi, s.at from lease_block() l;
  end if;
  lo := s.next; hi := least(s.next + p_count, s.hi);
  update id_share set next = lease_shared.hi, hi = s.hi, at = s.at;
end $$;

select add_partition(k) from generate_series(0, 2) k;
