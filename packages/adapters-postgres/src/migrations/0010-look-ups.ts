import type { Migration } from './migration.ts'

// Plans of functions are kept by each connection, also those that were made while the tables were empty. By these shapes an index is
// the only way to a row (see HotStatement), whatever the planner believed in then.

// The condition, which all rows meet, keeps this index for the lists, which name a kind: to the entries of a number leads the primary key.
const suppressions = `
drop index suppression_list;
create index suppression_list on suppression (account_id, kind, (msisdn::text) collate "C") where kind in (1, 2, 3);
`

const release = `
-- Ends flights of a dispatcher (one, or all): ids that may have left and have no message row become 106, the others go back to due.
create or replace function release_flights(p_dispatcher bigint, p_seq int default null, out requeued bigint, out unknown bigint) language plpgsql as $$
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
    from x cross join lateral (select * from send where first_id = x.first_id and x.id < first_id + n offset 0) s
  ), w as (
    select * from y where not exists (select from message m where m.id = any (array[y.id]))
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

const adopt = `
create or replace function adopt(p_age_seconds float8) returns int language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare v_adopted int;
begin
  perform pg_advisory_xact_lock('orphan_receipt'::regclass::oid::bigint);
  with w as materialized (
    select f.carrier, s.msisdns[t.id - s.first_id + 1] msisdn
    from flight f cross join lateral unnest(f.ids[:f.marked]) with ordinality t(id, n)
    cross join lateral (select first_id, msisdns from send where first_id = coalesce(f.firsts[t.n], f.firsts[1]) offset 0) s
    where t.id is not null and not exists (select from message m where m.id = any (array[t.id]))
  ), o as (
    select carrier, carrier_id, msisdn, min(submitted_at) submitted_at, min(at) at, array_agg(id) receipts from orphan_receipt r
    where msisdn is not null
      and not exists (select from message m where m.carrier_id = any (array[r.carrier_id]) and m.carrier = r.carrier and m.sent_at > r.at - interval '7 days')
    group by 1, 2, 3
  ), c as (
    select o.*, m.id, count(*) over (partition by o.carrier, o.carrier_id) per_receipt, count(*) over (partition by m.id) per_message
    from o cross join lateral (
      select id from message where msisdn = o.msisdn and carrier = o.carrier and code = 106 and (carrier_id || '') is null
        and sent_at > coalesce(o.submitted_at - interval '5 min', o.at - interval '3 days')
        and sent_at < coalesce(o.submitted_at, o.at) + interval '1 hour' offset 0
    ) m
  ), g as (
    select * from c where per_receipt = 1 and per_message = 1 and at <= now() - make_interval(secs => p_age_seconds)
      and (carrier, msisdn) not in (select carrier, msisdn from w)
  ), u as (
    update message m set carrier_id = g.carrier_id from g where m.id = any (array[g.id]) and m.code = 106 and (m.carrier_id || '') is null
    returning m.id, g.receipts
  ), i as (
    insert into incident (message_id, what) select id, 'adopted' from u
  ), n as (
    update orphan_receipt set next_try = now() where id = any (array(select unnest(receipts) from u))
  )
  select count(*) into v_adopted from u;
  return v_adopted;
end $$;
`

// As it was; what is on its way is looked up by number.
const receiveTexts = `
create or replace function receive_texts(p_carriers smallint[], p_from text[], p_numbers bigint[], p_to text[], p_texts text[], p_wishes smallint[],
  p_ids bigint[], p_confirmation text, p_parts smallint) returns int language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare r record; v_arrival bigint; v_sender int; v_used int := 0;
begin
  for r in
    with a as materialized (
      select u.*, s.id known, s.account_id owner
      from unnest(p_carriers, p_from, p_numbers, p_to, p_texts, p_wishes) with ordinality u(carrier, from_address, number, to_address, body, wish, place)
      left join lateral (select id, account_id from sender where address = u.to_address offset 0) s on true
    ), f as materialized (
      select s.account_id, t.id, s.sender, s.msisdns[t.id - s.first_id + 1] msisdn
      from flight f cross join lateral unnest(f.ids[:f.marked]) with ordinality t(id, n)
      cross join lateral (select account_id, sender, first_id, msisdns from send where first_id = coalesce(f.firsts[t.n], f.firsts[1]) offset 0) s
      where t.id is not null and s.sender >= 0 and case when s.msisdns[t.id - s.first_id + 1] in (select number from a)
        then not exists (select from message m where m.id = any (array[t.id])) end
    ), g as materialized (
      select jsonb_object_agg(msisdn, flying) by_number
      from (select msisdn, jsonb_agg(jsonb_build_object('account_id', account_id, 'id', id, 'sender', sender)) flying from f group by 1) x
    )
    select a.*, coalesce(c.account_id, w.account_id) last_account, coalesce(c.id, w.id) last_id, coalesce(c.sender, w.sender) last_sender
    from a left join lateral (
      select y.account_id, y.id, y.sender from (
        select m.account_id, m.id, m.sender, m.sent_at at from message m
        where m.msisdn = a.number and m.sender >= 0 and (m.carrier_id is not null or m.code = 106)
        union all
        select l.account_id, l.message_id, l.sender, l.at from last_contact l where l.msisdn = a.number
      ) y
      where case when a.owner is not null then y.account_id = a.owner else a.known is null or y.sender in (0, a.known) end
      order by y.at desc, y.id desc limit 1
    ) c on true left join lateral (
      select f.account_id, f.id, f.sender
      from (select by_number -> a.number::text flying from g where c.id is null) x
      cross join lateral jsonb_to_recordset(x.flying) f(account_id int, id bigint, sender int)
      where case when a.owner is not null then f.account_id = a.owner else a.known is null or f.sender in (0, a.known) end
      order by f.id desc limit 1
    ) w on true
    order by a.place
  loop
    insert into arrival (account_id, short_code, answers, carrier, from_address, to_address, text)
    values (coalesce(r.owner, r.last_account), case when r.owner is not null then r.known end, r.last_id, r.carrier, r.from_address, r.to_address, r.body)
    returning account_id, id into r.last_account, v_arrival;
    continue when r.last_account is null;
    insert into arrival_offered (account_id, at, arrival_id, to_code) values (r.last_account, now(), v_arrival, r.owner is not null);
    continue when r.number is null or r.wish = 0;

    if r.wish = 2 then
      delete from suppression where account_id = r.last_account and msisdn = r.number and kind + 0 = 1;
      delete from opt_out_reply where account_id = r.last_account and msisdn = r.number;
      continue;
    end if;
    insert into suppression (account_id, msisdn, kind, since) values (r.last_account, r.number, 1, now()) on conflict do nothing;
    continue when not found;
    insert into opt_out_reply (account_id, msisdn, since, arrival_id, text, answers)
    values (r.last_account, r.number, now(), v_arrival, r.body, r.last_id)
    on conflict (account_id, msisdn) do update set since = excluded.since, arrival_id = excluded.arrival_id, text = excluded.text, answers = excluded.answers;
    v_sender := coalesce(r.known, nullif(r.last_sender, 0));
    continue when v_sender is null or exists (select from account where id = r.last_account and locked)
      or exists (select from suppression where account_id in (0, r.last_account) and msisdn = r.number and kind + 0 = 3);
    v_used := v_used + 1;
    insert into send (first_id, n, account_id, sender, price, parts, body, msisdns)
    values (p_ids[v_used], 1, r.last_account, -v_sender, 0, p_parts, p_confirmation, array[r.number]);
    insert into due (lane, account_id, lo, hi, first_id) values (0, r.last_account, p_ids[v_used], p_ids[v_used] + 1, p_ids[v_used]);
  end loop;
  return v_used;
end $$;
`

// Rare, and of whole blocks: a plan for each call costs nothing beside its work.
const history = `
alter function drop_block set plan_cache_mode = force_custom_plan;
alter function drop_inbox set plan_cache_mode = force_custom_plan;
alter function drop_partition set plan_cache_mode = force_custom_plan;
`

export const lookUps: Migration = {
  version: 10,
  name: 'look-ups',
  sql: suppressions + release + adopt + receiveTexts + history,
}
