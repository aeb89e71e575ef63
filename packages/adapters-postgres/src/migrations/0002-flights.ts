import type { Migration } from './migration.ts'

const indexes = `
create index due_due_at on due (due_at);          -- expiry looks here
create index later_time on later (at);            -- whether anything is due at all; and expiry
create index later_tried on later (due_at) where attempt > 0;
`

// Functions where several statements need a fresh snapshot each. Two rules hold them and the statements together: act only
// on what the own delete or update returned, and without its flight row a dispatcher has no right.
//
// Releasing costs 10 µs and 180 bytes of log a message.
const release = `
-- Ends flights of a dispatcher (one, or all): ids that may have left and have no message row become 106, the others go back to due.
create function release_flights(p_dispatcher bigint, p_seq int default null, out requeued bigint, out unknown bigint) language plpgsql as $$
declare v_in bigint; v_out bigint;
begin
  with f as (
    delete from flight where dispatcher = p_dispatcher and (p_seq is null or seq = p_seq) returning *
  ), x as (
    select t.id, f.carrier, coalesce(f.firsts[t.o], f.firsts[1]) first_id, coalesce(f.attempts[t.o], 0::smallint) attempt, t.o <= f.marked marked
    from f cross join lateral unnest(f.ids) with ordinality t(id, o) where t.id is not null
  ), y as (
    select x.*, s.n, s.account_id, s.sender, s.msisdns[x.id - s.first_id + 1] msisdn,
      coalesce(s.scheduled_at, s.created_at) due_at, s.scheduled_at is not null scheduled
    from x join send s on s.first_id = x.first_id and x.id < s.first_id + s.n
  ), w as (
    select * from y where not exists (select from message m where m.id = y.id)
  ), g as (
    select first_id, n, account_id, attempt, due_at, scheduled, unnest(range_agg(int8range(id, id + 1))) r
    from w where not marked group by 1, 2, 3, 4, 5, 6
  ), q as (
    insert into due (lane, attempt, account_id, lo, hi, first_id, due_at, deletable)
    select case when n <= 10 then 0 else 1 end, attempt, account_id, lower(r), upper(r), first_id, due_at, attempt = 0 and scheduled
    from g returning hi - lo c
  ), m as (
    insert into message (id, send_first_id, msisdn, account_id, sender, carrier, code)
    select id, first_id, msisdn, account_id, sender, carrier, 106 from w where marked order by id
    on conflict (id) do nothing returning id
  ), i as (
    insert into incident (message_id, what) select id, 'recovered' from m
  )
  select (select coalesce(sum(c), 0) from q), (select count(*) from m), (select count(*) from x), (select count(*) from y)
  into requeued, unknown, v_in, v_out;
  if v_in <> v_out then raise exception 'a flight of dispatcher % holds ids without their send', p_dispatcher; end if;
end $$;
`

const end = `
-- Ends the dispatchers whose lease is over. Those that another process ends at this moment are left to it.
create function recover(out requeued bigint, out unknown bigint) language plpgsql as $$
declare v_id bigint; r record;
begin
  requeued := 0; unknown := 0;
  for v_id in select id from dispatcher where lease_until < clock_timestamp() order by id for update skip locked loop
    select * into r from release_flights(v_id);
    requeued := requeued + r.requeued; unknown := unknown + r.unknown;
    delete from dispatcher where id = v_id;
  end loop;
end $$;

-- Ends one dispatcher, its lease over or not. Nothing happens if it has ended.
create function retire(p_dispatcher bigint) returns void language plpgsql as $$
begin
  perform 1 from dispatcher where id = p_dispatcher for update;
  if not found then return; end if;
  perform release_flights(p_dispatcher);
  delete from dispatcher where id = p_dispatcher;
end $$;

-- After a claim whose answer was lost: nothing of it was sent, so all of it goes back. The empty row stops a claim that is still at work.
create function disown(p_dispatcher bigint, p_seq int) returns void language plpgsql as $$
begin
  perform 1 from dispatcher where id = p_dispatcher for key share;
  if not found then return; end if;
  insert into flight (dispatcher, seq, carrier, marked, ids, firsts) values (p_dispatcher, p_seq, 0, 0, '{}', '{}') on conflict do nothing;
  if not found then
    update flight set marked = 0 where dispatcher = p_dispatcher and seq = p_seq;
    perform release_flights(p_dispatcher, p_seq);
  end if;
end $$;
`

// One at a time: two that ran together could each give a message the reference that the other had judged to be the only one.
// Nested loops, whatever the statistics say: by index, only as much is read as there are kept receipts. (So that no index
// is used for it, "has no reference" is an expression.) What may be on its way is looked up once.
const adopt = `
create function adopt(p_age_seconds float8) returns int language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare v_adopted int;
begin
  perform pg_advisory_xact_lock('orphan_receipt'::regclass::oid::bigint);
  with w as materialized (
    select f.carrier, s.msisdns[t.id - s.first_id + 1] msisdn
    from flight f cross join lateral unnest(f.ids[:f.marked]) with ordinality t(id, n)
    join send s on s.first_id = coalesce(f.firsts[t.n], f.firsts[1])
    where t.id is not null and not exists (select from message m where m.id = t.id)
  ), o as (
    select carrier, carrier_id, msisdn, min(submitted_at) submitted_at, min(at) at from orphan_receipt r
    where msisdn is not null
      and not exists (select from message m where m.carrier_id = r.carrier_id and m.carrier = r.carrier and m.sent_at > r.at - interval '7 days')
    group by 1, 2, 3
  ), c as (
    select o.*, m.id, count(*) over (partition by o.carrier, o.carrier_id) per_receipt, count(*) over (partition by m.id) per_message
    from o join message m on m.msisdn = o.msisdn and m.carrier = o.carrier and m.code = 106 and (m.carrier_id || '') is null
      and m.sent_at > coalesce(o.submitted_at - interval '5 min', o.at - interval '3 days')
      and m.sent_at < coalesce(o.submitted_at, o.at) + interval '1 hour'
  ), g as (
    select * from c where per_receipt = 1 and per_message = 1 and at <= now() - make_interval(secs => p_age_seconds)
      and (carrier, msisdn) not in (select carrier, msisdn from w)
  ), u as (
    update message m set carrier_id = g.carrier_id from g where m.id = g.id and m.code = 106 and (m.carrier_id || '') is null
    returning m.id, m.carrier, m.carrier_id
  ), i as (
    insert into incident (message_id, what) select id, 'adopted' from u
  ), n as (
    update orphan_receipt r set next_try = now() from u where r.carrier = u.carrier and r.carrier_id = u.carrier_id
  )
  select count(*) into v_adopted from u;
  return v_adopted;
end $$;
`

export const flights: Migration = {
  version: 2,
  name: 'flights',
  sql: indexes + release + end + adopt,
}
