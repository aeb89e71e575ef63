import type { Migration } from './migration.ts'

// (The replies of opt-outs are beside their table: columns made it look so wide that claims, without statistics, read all entries of an account.)
//
// What the calls that return once have still to return is a small part of what is kept for the lists, so it has a table of its own, of
// which rows are only inserted and deleted: an arrival is never written again, and a call that finds nothing does not walk over what was
// taken. Each way of asking has an index that knows nothing of what it is not asked for.
const tables = `
create table arrival (                            -- what people wrote
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  account_id int,                                 -- null: nobody's
  short_code int,                                 -- sender.id of the account's code that it was sent to; null: no short code message
  answers bigint,                                 -- the message that it answers
  carrier smallint not null,
  from_address text not null,
  to_address text,
  text text not null
);
create index arrival_list on arrival (account_id, at, id) include (short_code) where account_id is not null;
create index arrival_unowned on arrival (at, id) where account_id is null;

create table arrival_offered (                    -- what no call that returns once has taken
  account_id int not null,
  at timestamptz not null,
  arrival_id bigint not null,
  to_code bool not null,                          -- a short code message
  primary key (account_id, at, arrival_id)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
create index arrival_offered_reply on arrival_offered (account_id, at, arrival_id) where not to_code;
create index arrival_offered_code on arrival_offered (account_id, at, arrival_id) where to_code;

create table arrival_taken (                      -- what a call took: for a day it can be offered again
  operation uuid primary key,
  account_id int not null,
  arrivals bigint[] not null,
  at timestamptz not null default now()
);
create index arrival_taken_at on arrival_taken (at);

create table arrival_seen (                       -- what tells a repetition, for 24 hours
  key uuid primary key,                           -- a digest of what makes two arrivals the same; made up where nothing does
  at timestamptz not null default now(),
  operation uuid not null                         -- the call that stored it: run again, it knows its own
);
create index arrival_seen_at on arrival_seen (at);

create table arrival_parts (                      -- parts of a text that wait for the others
  key uuid primary key,                           -- a digest of carrier, addresses, name of the group and number of parts
  arrival text not null,                          -- JSON: what they have in common
  numbers smallint[] not null,
  texts text[] not null,                          -- JSON strings in the same places: halves of a character are no text yet
  last timestamptz not null default now()
);
create index arrival_parts_last on arrival_parts (last);

create table opt_out_reply (                      -- the reply that made an opt-out; holds for the entry of the same moment only
  account_id int not null,
  msisdn bigint not null,
  since timestamptz not null,
  arrival_id bigint not null,
  text text not null,
  answers bigint,
  primary key (account_id, msisdn)
);
`

// The row of a group is locked by whoever adds a part to it, so that of two who bring the last two parts one completes the text.
const addParts = `
-- Adds parts, in their order. Returns the texts that this completed, or, since a number was there already, found to be over: of
-- part p_place the one, or both, the older first.
create function add_parts(p_keys uuid[], p_arrivals text[], p_numbers smallint[], p_counts smallint[], p_texts text[])
returns table (part int, complete bool, common text, places smallint[], pieces text[]) language plpgsql as $$
declare g arrival_parts;
begin
  for i in 1 .. coalesce(cardinality(p_keys), 0) loop
    loop
      insert into arrival_parts as p (key, arrival, numbers, texts)
      values (p_keys[i], p_arrivals[i], array[p_numbers[i]], array[p_texts[i]])
      on conflict (key) do update set numbers = p.numbers || excluded.numbers, texts = p.texts || excluded.texts, last = now()
      where not p.numbers @> excluded.numbers returning * into g;
      exit when found;
      delete from arrival_parts p where p.key = p_keys[i] returning * into g;
      if found then return query select i, false, g.arrival, g.numbers, g.texts; end if;
    end loop;
    if cardinality(g.numbers) = p_counts[i] then
      delete from arrival_parts p where p.key = p_keys[i];
      return query select i, true, g.arrival, g.numbers, g.texts;
    end if;
  end loop;
end $$;
`

// Whose it is, is one look at one moment: a message that leaves its flight for its row between two looks would be in neither. What may
// have left and is not recorded is looked through, once, if there is anything that nobody else is found for. (The "case" keeps the
// list of numbers a hashed one, whatever joins are allowed.)
//
// Nested loops, whatever the statistics say: fresh partitions have none.
const receiveTexts = `
-- Stores texts, in their order, with what follows from them. p_ids are message ids for confirmations, as many as there are wishes to
-- opt out (1; 2 is to opt in); returns how many of them were used, the first ones.
create function receive_texts(p_carriers smallint[], p_from text[], p_numbers bigint[], p_to text[], p_texts text[], p_wishes smallint[],
  p_ids bigint[], p_confirmation text, p_parts smallint) returns int language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare r record; v_arrival bigint; v_sender int; v_used int := 0;
begin
  for r in
    with a as materialized (
      select u.*, s.id known, s.account_id owner
      from unnest(p_carriers, p_from, p_numbers, p_to, p_texts, p_wishes) with ordinality u(carrier, from_address, number, to_address, body, wish, place)
      left join sender s on s.address = u.to_address
    ), f as materialized (
      select s.account_id, t.id, s.sender, s.msisdns[t.id - s.first_id + 1] msisdn
      from flight f cross join lateral unnest(f.ids[:f.marked]) with ordinality t(id, n)
      join send s on s.first_id = coalesce(f.firsts[t.n], f.firsts[1])
      where t.id is not null and s.sender >= 0 and case when s.msisdns[t.id - s.first_id + 1] in (select number from a)
        then not exists (select from message m where m.id = t.id) end
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
      select f.account_id, f.id, f.sender from f
      where c.id is null and a.number is not null and f.msisdn = a.number
        and case when a.owner is not null then f.account_id = a.owner else a.known is null or f.sender in (0, a.known) end
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
      delete from suppression where account_id = r.last_account and msisdn = r.number and kind = 1;
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
      or exists (select from suppression where account_id in (0, r.last_account) and msisdn = r.number and kind = 3);
    v_used := v_used + 1;
    insert into send (first_id, n, account_id, sender, price, parts, body, msisdns)
    values (p_ids[v_used], 1, r.last_account, -v_sender, 0, p_parts, p_confirmation, array[r.number]);
    insert into due (lane, account_id, lo, hi, first_id) values (0, r.last_account, p_ids[v_used], p_ids[v_used] + 1, p_ids[v_used]);
  end loop;
  return v_used;
end $$;
`

// As it was, and what people wrote after the rest: some thousand rows a step, and the same place again as long as there are more.
const dropHistory = `
-- Drops some of what no list shows any more and what is remembered no longer. False: there is more.
create function drop_inbox(p_before timestamptz, p_contact_days int) returns bool language plpgsql as $$
declare v_contacts timestamptz := now() - make_interval(days => p_contact_days); v_most int := 0; v_count int;
begin
  with o as (
    select id from arrival order by id limit 5000
  ), d as (
    delete from arrival a using o where a.id = o.id and a.at < p_before returning a.account_id, a.at, a.id
  ), x as (
    delete from arrival_offered f using d where f.account_id = d.account_id and f.at = d.at and f.arrival_id = d.id
  )
  select count(*) into v_count from d;
  v_most := greatest(v_most, v_count);
  with o as (select operation from arrival_taken where at < now() - interval '1 day' order by at limit 5000)
  delete from arrival_taken t using o where t.operation = o.operation;
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  with o as (select key from arrival_seen where at < now() - interval '24 hours' order by at limit 5000)
  delete from arrival_seen s using o where s.key = o.key and s.at < now() - interval '24 hours';
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  with o as (select msisdn, sender from last_contact where at < v_contacts order by at limit 5000)
  delete from last_contact l using o where l.msisdn = o.msisdn and l.sender = o.sender and l.at < v_contacts;
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  -- An address that a number knows an account by is forgotten once nobody can answer to it.
  with o as (
    select msisdn from chosen_sender where since < v_contacts order by since limit 5000 for update skip locked
  ), u as (
    select msisdn, exists (select from message m where m.msisdn = o.msisdn) or exists (select from last_contact l where l.msisdn = o.msisdn) needed from o
  ), k as (
    update chosen_sender c set since = now() from u where c.msisdn = u.msisdn and u.needed
  ), d as (
    delete from chosen_sender c using u where c.msisdn = u.msisdn and not u.needed
  )
  select count(*) into v_count from u;
  return greatest(v_most, v_count) < 5000;
end $$;

create or replace function drop_history(p_after bigint, p_days int, p_contact_days int,
  out v_state text, out v_next bigint, out v_partitions int, out v_sends bigint, out v_messages bigint) language plpgsql as $$
declare
  v_before timestamptz := now() - make_interval(days => p_days);
  v_leased timestamptz := least(v_before, now() - interval '2 days');
  v_newest bigint := (select last_value / 500 from id_block);
  k bigint;
  v_dropped bool;
begin
  v_state := 'busy'; v_next := p_after; v_partitions := 0; v_sends := 0; v_messages := 0;
  if not pg_try_advisory_xact_lock('id_lease'::regclass::oid::bigint) then return; end if;
  v_state := 'more';

  if p_after < 0 then
    for k in
      select p.k from (select substr(inhrelid::regclass::text, 7)::bigint k from pg_inherits
        where inhparent = 'send'::regclass and inhrelid::regclass::text ~ '^send_p[0-9]+$') p
      where p.k <= v_newest - 2 and not exists (select from id_lease where block >= p.k * 500 and block < (p.k + 1) * 500 and at >= v_leased)
      order by 1
    loop
      select d.dropped, d.sends, d.messages into v_dropped, v_sends, v_messages from drop_partition(k, v_before) d;
      v_partitions := coalesce(v_dropped, false)::int;
      if v_dropped is not null then return; end if;
    end loop;
  end if;

  select min(l.block) into v_next
  from id_lease l join (select block / 500 k, min(at) filled_from from id_lease group by 1) p on p.k = l.block / 500
  where l.block > p_after and l.at < v_leased and (p.k > v_newest - 2 or p.filled_from < v_before - interval '30 days');
  if v_next is not null then
    select d.sends, d.messages into v_sends, v_messages from drop_block(v_next, v_before) d;
    return;
  end if;

  v_next := p_after; v_sends := 0; v_messages := 0;
  if not drop_inbox(v_before, p_contact_days) then return; end if;
  v_state := 'all'; v_next := -1;
  delete from client_request where at < now() - interval '48 hours';
  delete from orphan_receipt where at < now() - interval '7 days';
end $$;
`

export const inbox: Migration = {
  version: 7,
  name: 'inbox',
  sql: tables + addParts + receiveTexts + dropHistory,
}
