-- Numbers are given for ever: sends and what waits name them.
create sequence queue_number as smallint;         -- of queues; that of a route is the number of its first one
create table route (                              -- which carriers take a message
  id smallint primary key default nextval('queue_number'),
  name text not null unique,
  position smallint,                              -- the order in which routes are tried; null: not published any more
  prefixes text[] not null,                       -- conditions, each empty: any
  accounts int[] not null,
  senders text[] not null,
  carriers text[] not null,
  priorities smallint[] not null,                 -- of each carrier, in the same place
  weights smallint[] not null
);

create table queue (                              -- is claimed together; 0: no route, any carrier
  id smallint primary key default nextval('queue_number'),
  route smallint not null,
  refused_by text not null,                       -- the carrier that refused for now; '': none
  only_for text not null,                         -- the carrier that is waited for, as it knows the sender; '': any
  unique (route, refused_by, only_for)
);
insert into queue (id, route, refused_by, only_for) values (0, 0, '', '');

-- Waiting work is ranges of ids: the table that holds a range is its state. Rows of due and later are deleted and
-- inserted, never updated.
create table due (                                -- to be sent now: ids lo .. hi-1 of a send
  queue smallint not null default 0,              -- that of its route, and of who refused it for now
  lane smallint not null,                         -- LANE: 0 single, 1 bulk
  account_id int not null,
  rank smallint not null default 0,               -- minus the priority of its send: the least is claimed first
  lo bigint not null,
  hi bigint not null,
  first_id bigint not null,
  due_at timestamptz not null default now(),      -- when it first was due: validity counts from here
  expires_at timestamptz,                         -- as of its send
  attempt smallint not null default 0,
  deletable bool not null default false,          -- scheduled, and no carrier has seen it
  primary key (queue, lane, account_id, rank, lo),
  check (lo < hi)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index due_due_at on due (due_at) where expires_at is null; -- expiry looks here, and in the next
create index due_expires_at on due (expires_at) where expires_at is not null;
create index due_deletable on due (account_id, due_at, lo) where deletable;

create table later (                              -- attempt 0: scheduled, deletable; above: to be retried
  queue smallint not null default 0,              -- where it will be due
  lane smallint not null,
  account_id int not null,
  lo bigint not null,
  hi bigint not null,
  first_id bigint not null,
  due_at timestamptz not null,
  expires_at timestamptz,                         -- as of its send
  at timestamptz not null,
  attempt smallint not null default 0,
  rank smallint not null default 0,               -- with which it will be due
  primary key (account_id, lo),
  check (lo < hi)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index later_at on later (account_id, at);
create index later_scheduled on later (account_id, due_at, lo) where attempt = 0;
create index later_time on later (at);            -- whether anything is due at all; and expiry
create index later_tried on later (due_at) where attempt > 0 and expires_at is null;
create index later_expires_at on later (expires_at) where expires_at is not null;

-- How many messages of `later` are scheduled (attempt 0), so that a page far in is found by counting. A statement that
-- inserts or deletes such rows notes it in scheduled_change, which is added to the counts now and then. A count may be
-- in several rows.
create table scheduled_change (
  account_id int not null,
  due_at timestamptz not null,
  block bigint not null,                          -- of the first id of the range: the id, in thousands
  change bigint not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_cost_delay=0);
create index scheduled_change_account on scheduled_change (account_id);

create table scheduled_block (
  account_id int not null,
  due_at timestamptz not null,
  block bigint not null,
  n bigint not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
create index scheduled_block_place on scheduled_block (account_id, due_at, block);

create table scheduled_hour (
  account_id int not null,
  hour timestamptz not null,
  n bigint not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
create index scheduled_hour_place on scheduled_hour (account_id, hour);

-- Stable, so that all of it reads in the snapshot of its caller. What is due is never counted: it comes first, with
-- what of `later` is due no later, and is read range by range.
-- What of an account waits for its time, or did, and can still be deleted: p_limit messages from p_offset on, by due
-- time, then id. At least one row, with the total and with how many changes are not yet in the counts. Times are in
-- milliseconds.
create function list_scheduled(p_account int, p_offset bigint, p_limit bigint)
returns table (total bigint, unfolded bigint, id bigint, number bigint, submitted bigint, due bigint, price int,
  client_reference text)
  language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
declare
  v_due bigint; v_last timestamptz; v_overdue bigint := 0;
  v_scheduled bigint; v_unfolded bigint;
  v_from bigint; v_to bigint; v_before bigint;
  v_hour timestamptz; v_at timestamptz; v_lo bigint;
begin
  select coalesce(sum(hi - lo), 0), max(due_at) into v_due, v_last
  from due where account_id = p_account and deletable;
  if v_due > 0 then
    select coalesce(sum(hi - lo), 0) into v_overdue
    from later where account_id = p_account and due_at <= v_last and attempt = 0;
  end if;
  select coalesce(sum(change), 0), count(*) into v_scheduled, v_unfolded from scheduled_change
    where account_id = p_account;
  v_scheduled := v_scheduled + coalesce((select sum(n) from scheduled_hour where account_id = p_account), 0);

  -- Places in the order of `later` alone.
  v_from := greatest(p_offset - v_due, v_overdue); v_to := least(p_offset - v_due + p_limit, v_scheduled);
  if v_from < v_to then
    select before, hour into v_before, v_hour
    from (
      select hour, sum(n) over (order by hour) - n before, n
      from (
        select hour, sum(n) n
        from (
          select hour, n from scheduled_hour where account_id = p_account
          union all
          select date_bin('1 hour', due_at, 'epoch'), change from scheduled_change where account_id = p_account
        ) counted (hour, n)
        group by hour
      ) hours
    ) summed
    where before + n > v_from
    order by hour limit 1;
    select v_before + before, due_at, block * 1000 into v_before, v_at, v_lo
    from (
      select due_at, block, sum(n) over (order by due_at, block) - n before, n
      from (
        select due_at, block, sum(n) n
        from (
          select due_at, block, n from scheduled_block where account_id = p_account and due_at >= v_hour
            and due_at < v_hour + interval '1 hour'
          union all
          select due_at, block, change from scheduled_change where account_id = p_account and due_at >= v_hour
            and due_at < v_hour + interval '1 hour'
        ) counted (due_at, block, n)
        group by due_at, block
      ) blocks
    ) summed
    where v_before + before + n > v_from
    order by due_at, block limit 1;
  end if;

  return query
    with overdue as (
      select lo, hi, first_id, due_at from due where v_due + v_overdue > p_offset and account_id = p_account
        and deletable
      union all
      select lo, hi, first_id, due_at from later
      where v_due + v_overdue > p_offset and v_overdue > 0 and account_id = p_account and due_at <= v_last
        and attempt = 0
    ), placed_overdue as (
      select overdue.*, (sum(hi - lo) over (order by due_at, lo) - (hi - lo))::bigint before from overdue
    ), scheduled as (
      select lo, hi, first_id, due_at from later
      where v_from < v_to and account_id = p_account and (due_at, lo) >= (v_at, v_lo) and attempt = 0
      order by due_at, lo limit v_to - v_before
    ), placed_scheduled as (
      select scheduled.*, (v_before + sum(hi - lo) over (order by due_at, lo) - (hi - lo))::bigint before from scheduled
    ), pieces as (
      select first_id, due_at, lo + greatest(0, p_offset - before) piece_lo,
        lo + least(hi - lo, p_offset + p_limit - before) piece_hi
      from placed_overdue where before + (hi - lo) > p_offset and before < p_offset + p_limit
      union all
      select first_id, due_at, lo + greatest(0, v_from - before), lo + least(hi - lo, v_to - before)
      from placed_scheduled where before + (hi - lo) > v_from and before < v_to
    ), items as (
      select piece_lo + place - 1 id, msisdn, floor(extract(epoch from send.created_at) * 1000)::bigint submitted,
        floor(extract(epoch from pieces.due_at) * 1000)::bigint due, send.price, its_reference
      from pieces
      cross join lateral (
        select s.created_at, s.price, s.msisdns[pieces.piece_lo - s.first_id + 1 : pieces.piece_hi - s.first_id] numbers,
          s.client_references[pieces.piece_lo - s.first_id + 1 : pieces.piece_hi - s.first_id] its_references
        from send s where s.first_id = pieces.first_id offset 0
      ) send
      cross join lateral unnest(send.numbers, send.its_references) with ordinality
        numbered(msisdn, its_reference, place)
    )
    select v_due + v_scheduled, v_unfolded, items.*
    from (values (1)) always left join items on true
    order by items.due, items.id;
end $$;

-- Within one statement: a process that stands still between two would keep the lock of an account. What was seen and
-- not got was moved meanwhile, and is looked for again with a fresh snapshot. Nested loops by send: a search by id
-- alone walks over dead rows.
-- Deletes and refunds what of the ids waits for its time, or did, and no carrier has seen (code 102). Returns these
-- with what was refunded; and of the others those that are the account's, with when they were due and what became of
-- them.
create function delete_waiting(p_account int, p_ids bigint[], p_operation uuid)
returns table (message_id bigint, recipient bigint, refund int, due_time timestamptz, final_code smallint,
  reference text) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
declare
  v_firsts bigint[]; v_counts int[]; v_ranks smallint[]; v_wanted int8multirange[];
  v_ids bigint[] := '{}'; v_numbers bigint[] := '{}'; v_prices int[] := '{}';
  r record;
begin
  select array_agg(first_id), array_agg(n), array_agg(rank), array_agg(wanted)
  into v_firsts, v_counts, v_ranks, v_wanted
  from (
    select s.first_id, s.n, s.rank, range_agg(int8range(u.i, u.i + 1)) wanted
    from unnest(p_ids) u(i) cross join lateral (
      select first_id, n, account_id, -priority rank from send
        where first_id <= u.i and first_id >= u.i / 10000 * 10000
        order by first_id desc limit 1
    ) s
    where s.account_id = p_account and u.i < s.first_id + s.n group by 1, 2, 3
  ) w;
  if v_firsts is null then return; end if;

  perform 1 from account where id = p_account for no key update;
  loop
    with wanted_sends as (
      select * from unnest(v_firsts, v_counts, v_ranks, v_wanted) wanted_send(first_id, n, rank, wanted)
    ), seen_later as materialized (
      select waiting.place
      from wanted_sends w
      cross join lateral (
        select ctid place, lo, hi
        from later
        where account_id = p_account and lo >= w.first_id and lo < w.first_id + w.n and attempt = 0
        order by lo offset 0
      ) waiting
      where w.wanted && int8range(waiting.lo, waiting.hi)
    ), its_queues as materialized (
      select queue.id, lane
      from queue
      cross join unnest('{0,1}'::smallint[]) lanes(lane)
      where (
        select true from due where due.queue = queue.id and due.lane = lanes.lane and account_id = p_account limit 1
      )
    ), seen_due as materialized (
      select waiting.place
      from wanted_sends w
      cross join its_queues
      cross join lateral (
        select ctid place, lo, hi
        from due
        where due.queue = its_queues.id and due.lane = its_queues.lane
          and account_id = p_account and due.rank = w.rank and lo >= w.first_id and lo < w.first_id + w.n
          and deletable
        order by lo offset 0
      ) waiting
      where w.wanted && int8range(waiting.lo, waiting.hi)
    ), from_later as (
      delete from later where ctid = any (array(select place from seen_later)) 
      returning queue, lane, rank, lo, hi, first_id, due_at, expires_at, at
    ), from_due as (
      delete from due where ctid = any (array(select place from seen_due)) 
      returning queue, lane, rank, lo, hi, first_id, due_at, expires_at
    ), ranges as materialized (
      select *, v_wanted[array_position(v_firsts, first_id)] * int8multirange(int8range(lo, hi)) cut
      from (select * from from_later union all select *, null from from_due) taken
    ), rest as (
      select ranges.*, unnest(int8multirange(int8range(lo, hi)) - cut) part from ranges
    ), rest_later as (
      insert into later (queue, lane, account_id, rank, lo, hi, first_id, due_at, expires_at, at)
      select queue, lane, p_account, rank, lower(part), upper(part), first_id, due_at, expires_at, at
      from rest
      where at is not null
    ), noted_scheduled as (
      insert into scheduled_change (account_id, due_at, block, change)
      select account_id, due_at, lo / 1000, sum(change)
      from (select p_account account_id, due_at, lo, lo - hi change from from_later
          union all
        select p_account, due_at, lower(part), upper(part) - lower(part) from rest where at is not null) ranges
      group by account_id, due_at, lo / 1000
      having sum(change) <> 0
    ), rest_due as (
      insert into due (queue, lane, account_id, rank, lo, hi, first_id, due_at, expires_at, deletable)
      select queue, lane, p_account, rank, lower(part), upper(part), first_id, due_at, expires_at, true
      from rest
      where at is null
    ), deleted as (
      select p_account account_id, s.first_id send_first_id, 102::smallint /* OUTCOME.cancelled */ code, s.price amount,
        s.sender, s.confirms_opt_out, lower(c.part) + p.place - 1 id, p.msisdn, now() as at, false has_reference
      from ranges
      join send s on s.first_id = ranges.first_id
      cross join lateral unnest(ranges.cut) c(part)
      cross join lateral unnest(s.msisdns[lower(c.part) - s.first_id + 1 : upper(c.part) - s.first_id])
        with ordinality p(msisdn, place)
    ), messages as (
      insert into message (id, send_first_id, msisdn, account_id, sender, confirms_opt_out, code, code_at)
      select id, send_first_id, msisdn, account_id, sender, confirms_opt_out, code, now()
      from deleted
    ), refund_entries as (
      insert into ledger (account_id, kind, amount, send_first_id, code, operation)
      select account_id, 3 /* LEDGER.refund */, sum(amount), send_first_id, code, p_operation
      from deleted
      group by account_id, send_first_id, code
    ), refunded_balances as (
      update account set balance = balance + refund.amount
      from (
        select account_id, sum(amount)::bigint amount
        from deleted
        group by account_id
        order by account_id
      ) refund
      where account.id = any (array[refund.account_id])
    ), wanting as materialized (
      select distinct account_id
      from webhook
      where account_id = any (array(select distinct account_id from deleted))
        and state <> 2 /* WEBHOOK_STATE.disabled */
    ), events as (
      insert into webhook_event
        (webhook_id, type, sequence, at, code, send_first_id, has_reference, count, subjects, msisdns)
      select endpoint.id, happened.type, happened.sequence, happened.at, happened.code,
        happened.send_first_id, happened.has_reference, happened.count, happened.subjects, happened.msisdns
      from (
        select account_id, send_first_id, code, at, has_reference,
          case code when 0 then 0 when 100 then 3 when 101 then 1 when 102 then 1 when 103 then 1 when 106 then 2
            when 107 then 1 when 111 then 1 when 202 then 1 when 212 then 1 when 213 then 1 when 214 then 1 end as type,
          case code when 0 then 4 when 100 then 2 when 101 then 4 when 102 then 4 when 103 then 4 when 106 then 1
            when 107 then 4 when 111 then 4 when 202 then 4 when 212 then 4 when 213 then 4 when 214 then 4
          end as sequence,
          count(*) as count, array_agg(id) as subjects, array_agg(msisdn) as msisdns
        from deleted
        where case when account_id in (select account_id from wanting) then not confirms_opt_out end
        group by account_id, send_first_id, code, at, has_reference
      ) happened
      cross join lateral (
        select id from webhook
        where account_id = happened.account_id and state <> 2 /* WEBHOOK_STATE.disabled */
          and events & (1 << happened.type) <> 0 offset 0
      ) endpoint
      order by happened.subjects[1]
      returning 1
    )
    select array_agg(id) ids, array_agg(msisdn) numbers, array_agg(amount) prices,
      (select count(*) from seen_later) + (select count(*) from seen_due) seen, (select count(*) from ranges) got,
      case when exists (select from events) then (
        select pg_notify('gateway_due_' || 'idle_dispatcher'::regclass::oid, '')
        from idle_dispatcher where until > now() limit 1
      ) end woken
    from deleted into r;
    v_ids := v_ids || r.ids; v_numbers := v_numbers || r.numbers; v_prices := v_prices || r.prices;
    exit when r.seen = r.got;
  end loop;

  return query select *, null::timestamptz, null::smallint, null::text from unnest(v_ids, v_numbers, v_prices);
  if cardinality(v_ids) = cardinality(p_ids) then return; end if;
  -- Those that are returned already have code 102 here.
  return query
    select wanted.id, wanted.msisdn, null::int, wanted.due, message.code, message.carrier_id
    from (
      select lower(c.part) + p.place - 1 id, p.msisdn, coalesce(s.scheduled_at, s.created_at) due
      from unnest(v_firsts, v_wanted) wanted_send(first_id, wanted)
      join send s on s.first_id = wanted_send.first_id
      cross join lateral unnest(wanted_send.wanted) c(part)
      cross join lateral unnest(s.msisdns[lower(c.part) - s.first_id + 1 : upper(c.part) - s.first_id])
        with ordinality p(msisdn, place)
    ) wanted
    left join message on message.id = wanted.id;
end $$;
