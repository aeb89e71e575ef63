create sequence dispatcher_epoch;
create table dispatcher (
  id bigint primary key,
  lease_until timestamptz not null,
  since timestamptz default now(),
  version text,                                   -- of the program; null: it did not tell
  host text,                                      -- where it runs, and the number of its process; null: it did not tell
  pid int
) with (fillfactor=20);

create table claimed_batch (                      -- messages that one dispatcher has claimed together
  dispatcher bigint not null,
  seq int not null,
  carrier smallint not null,
  lane smallint not null,
  marked int not null,                            -- so many of the ids, from the front, may have left
  queue smallint not null default 0,              -- of due, that it was claimed from
  ids bigint[] not null,                          -- ascending = order of submission; null: settled or given back
  send_first_ids bigint[] not null,               -- the send of each id; one element: the same for all
  attempts smallint[],                            -- null: all 0
  primary key (dispatcher, seq)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500,
  autovacuum_vacuum_cost_delay=0);
-- A mark does not rewrite what is in TOAST.
alter table claimed_batch alter ids set storage external, alter send_first_ids set storage external;

-- Unlogged: it costs no flush, and after a crash no process sleeps, since each lost the connection that wakes it.
create unlogged table idle_dispatcher (           -- processes that are to be told of due work
  id bigint generated always as identity primary key,
  until timestamptz not null                      -- not renewed by then: the process has ended
);
-- Every acceptance looks here: 4 µs while it is empty, where reading the whole empty table costs 15.
create index idle_dispatcher_until on idle_dispatcher (until);

-- Act only on what the own delete or update returned; without its claimed_batch row a dispatcher has no right.
-- Releasing costs 10 µs and 180 bytes of log a message.
-- Ends claimed batches of a dispatcher (one, or all): ids that may have left and have no message row become 106, the
-- others go back to due.
create function release_claimed_batches(p_dispatcher bigint, p_seq int default null, out requeued bigint,
  out unknown bigint)
language plpgsql as $$
declare v_in bigint; v_out bigint;
begin
  with ended as (
    delete from claimed_batch where dispatcher = p_dispatcher and (p_seq is null or seq = p_seq) returning *
  ), held as (
    select id, carrier, queue, lane, position <= marked marked,
      coalesce(send_first_ids[position], send_first_ids[1]) first_id,
      coalesce(attempts[position], 0::smallint) attempt
    from ended
    cross join lateral unnest(ids) with ordinality claimed(id, position)
    where id is not null
  ), known as (
    select held.*, send.account_id, send.sender, send.confirms_opt_out,
      send.msisdns[held.id - send.first_id + 1] msisdn,
      coalesce(send.scheduled_at, send.created_at) due_at, send.expires_at, -send.priority rank,
      send.scheduled_at is not null scheduled
    from held
    cross join lateral (select * from send where first_id = held.first_id and held.id < first_id + n offset 0) send
  ), undecided as (
    select * from known where not exists (select from message where id = any (array[known.id]))
  ), ranges as (
    select queue, lane, first_id, account_id, rank, attempt, due_at, expires_at, scheduled,
      unnest(range_agg(int8range(id, id + 1))) ids
    from undecided
    where not marked
    group by queue, lane, first_id, account_id, rank, attempt, due_at, expires_at, scheduled
  ), due_again as (
    insert into due (queue, lane, attempt, account_id, rank, lo, hi, first_id, due_at, expires_at, deletable)
    select queue, lane, attempt, account_id, rank, lower(ids), upper(ids), first_id, due_at, expires_at,
      attempt = 0 and scheduled
    from ranges
    returning hi - lo messages
  ), unknown_messages as (
    insert into message (id, send_first_id, msisdn, account_id, sender, confirms_opt_out, carrier, code)
    select id, first_id, msisdn, account_id, sender, confirms_opt_out, carrier, 106 /* OUTCOME.unknown */
    from undecided
    where marked
    order by id
    on conflict (id) do nothing
    returning id, account_id, msisdn, code, sent_at as at, confirms_opt_out, send_first_id,
      false as has_reference
  ), incidents as (
    insert into incident (message_id, what) select id, 'recovered' /* INCIDENT.recovered */ from unknown_messages
  ), wanting as materialized (
    select distinct account_id
    from webhook
    where account_id = any (array(select distinct account_id from unknown_messages))
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
      from unknown_messages
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
  select (select coalesce(sum(messages), 0) from due_again), (select count(*) from unknown_messages),
    (select count(*) from held), (select count(*) from known)
  into requeued, unknown, v_in, v_out;
  if v_in <> v_out then
    raise exception 'a claimed batch of dispatcher % holds ids without their send', p_dispatcher;
  end if;
end $$;

-- Ends the dispatchers whose lease is over. Those that another process ends at this moment are left to it.
create function recover(out requeued bigint, out unknown bigint) language plpgsql as $$
declare v_id bigint; r record;
begin
  requeued := 0; unknown := 0;
  for v_id in select id from dispatcher where lease_until < clock_timestamp() order by id for update skip locked loop
    select * into r from release_claimed_batches(v_id);
    requeued := requeued + r.requeued; unknown := unknown + r.unknown;
    delete from dispatcher where id = v_id;
  end loop;
end $$;

-- Ends one dispatcher, its lease over or not. Nothing happens if it has ended.
create function retire(p_dispatcher bigint) returns void language plpgsql as $$
begin
  perform 1 from dispatcher where id = p_dispatcher for update;
  if not found then return; end if;
  perform release_claimed_batches(p_dispatcher);
  delete from dispatcher where id = p_dispatcher;
end $$;

-- After a claim whose answer was lost: nothing of it was sent, so all of it goes back. The empty row stays also where
-- this is run again: it stops a claim that is still at work.
create function disown(p_dispatcher bigint, p_seq int) returns void language plpgsql as $$
begin
  perform 1 from dispatcher where id = p_dispatcher for key share;
  if not found then return; end if;
  insert into claimed_batch (dispatcher, seq, carrier, lane, marked, ids, send_first_ids)
  values (p_dispatcher, p_seq, 0, 0, 0, '{}', '{}')
  on conflict do nothing;
  if found then return; end if;
  update claimed_batch set marked = 0 where dispatcher = p_dispatcher and seq = p_seq and ids <> '{}';
  if found then perform release_claimed_batches(p_dispatcher, p_seq); end if;
end $$;

-- Statuses are unlogged: what a process tells it tells again within seconds.
create unlogged table carrier_status (            -- what processes that dispatch tell of their carriers, for operators
  process text not null,                          -- one run of a process
  host text not null,
  pid int not null,
  carrier text not null,
  report text not null,                           -- JSON of core's CarrierReport
  told_at timestamptz not null,
  primary key (process, carrier)
);

create unlogged table carrier_figure (            -- what came of messages within five minutes, for operators; of a day
  carrier text not null,
  slot timestamptz not null,
  prefix text not null,                           -- the calling code of the numbers; '': not told
  delivered bigint not null,
  failed bigint not null,
  unknown bigint not null,
  refused bigint not null,
  primary key (carrier, slot, prefix)
);

create table carrier_bind (                       -- shared by processes; logged: it must survive a crash
  carrier text not null,
  number int not null,                            -- 1 to the number of binds that the carrier allows
  holder text not null,                           -- one carrier of one run of a process
  lease_until timestamptz not null,
  primary key (carrier, number)
);

create table carrier_rate (                       -- shares of what a carrier takes a second; logged, as binds are
  carrier text not null,
  holder text not null,                           -- one carrier of one run of a process
  share int not null,                             -- parts a second, until it renews
  need int not null,                              -- what it could use
  lease_until timestamptz not null,
  primary key (carrier, holder)
);

create table carrier_mode (                       -- carriers that operators have paused or drained, in all processes
  carrier text primary key,
  mode text not null,
  since timestamptz not null default now(),
  set_by text not null
);

-- Unlogged: who watches renews its watch within seconds, and what it missed is not told again.
create unlogged table carrier_watch (             -- operators that look at the PDUs of a carrier at this moment
  id uuid primary key,
  carrier text not null,
  number text,                                    -- only PDUs with this address; null: all
  has_text bool not null,                         -- with the texts of messages
  watched_until timestamptz not null
);
create unlogged table watched_pdu (               -- until its watch takes it or ends, which is within seconds
  id bigint generated always as identity primary key,
  watch uuid not null references carrier_watch on delete cascade,
  pdu text not null                               -- JSON of core's WatchedPdu
);

create table carrier_version (                    -- carriers and routes of the deployment; the last one is in force
  version int primary key,                        -- from 1
  sealed text not null,                           -- the document with its secrets, encrypted with SECRETS_KEY
  digest text not null,                           -- of what it says, secrets left out
  carriers text[] not null,                       -- their names
  stored_at timestamptz not null default now(),
  stored_by text not null
);

create table carrier_user (                       -- processes that dispatch, and the version that they work with
  process text primary key,                       -- one run of a process
  host text not null,
  pid int not null,
  version int not null,                           -- 0: none is stored
  simulated text,                                 -- the simulated carriers that it has without a version
  lease_until timestamptz not null
);
