import type { Migration } from './migration.ts'

const tables = `
create table last_contact (                       -- of dropped messages: who wrote last to a number from an address
  msisdn bigint not null,
  sender int not null,
  account_id int not null,
  message_id bigint not null,
  at timestamptz not null,
  primary key (msisdn, sender)
);
create index last_contact_at on last_contact (at);
alter table id_lease add column kept bool not null default false;   -- last_contact knows all of this block
create index client_request_at on client_request (at);
`

// What the sends cost is summed while nobody can add one (a lock that only an accept into this very partition would meet), and
// before any lock that others wait for. Once no id of the partition waits none ever will again: ids come to wait by an accept or
// from another place of waiting. The locks on the parents are asked for again and again, each time for a moment only, so that
// nobody stands long behind them; those who hold one parent and want the other are thereby let pass too.
//
// Remembering who wrote last takes 10 µs a message, most of all the work: some blocks at a time, each time in a transaction of
// its own, once nothing in the partition can change any more who that was.
const dropPartition = `
-- Drops a partition of which everything is older than p_before. Null: still needed. False: call it again. 55P03: readers are in the way, try later.
create function drop_partition(k bigint, p_before timestamptz, out dropped bool, out sends bigint, out messages bigint) language plpgsql as $$
declare a bigint := k * 5000000; z bigint := (k + 1) * 5000000; v_needed bool; v_sends bigint; v_messages bigint; v_block bigint;
begin
  sends := 0; messages := 0;
  if (select count(*) from pg_inherits where inhparent = 'send'::regclass and inhrelid = to_regclass('send_p' || k)
        or inhparent = 'message'::regclass and inhrelid = to_regclass('message_p' || k)) <> 2 then return; end if;
  perform set_config('lock_timeout', '100ms', true);
  execute format('lock table send_p%s in share mode', k);
  execute format('select exists (select from send_p%s where greatest(created_at, scheduled_at) >= $1)
    or exists (select from message_p%s where greatest(sent_at, code_at) >= $1)', k, k) into v_needed using p_before;
  if v_needed or exists (select from id_lease where block >= k * 500 and block < (k + 1) * 500 and at > now() - interval '2 days')
    or exists (select from later where lo >= a and lo < z) or exists (select from due where lo >= a and lo < z)
    or exists (select from flight, unnest(ids) i where i >= a and i < z) then return; end if;

  for v_block in update id_lease set kept = true
    where block in (select block from id_lease where block >= k * 500 and block < (k + 1) * 500 and not kept order by block limit 25) returning block
  loop
    perform keep_contacts(v_block * 10000, (v_block + 1) * 10000);
    dropped := false;
  end loop;
  if not dropped then return; end if;
  if not exists (select from id_lease where block >= k * 500 and block < (k + 1) * 500) then perform keep_contacts(a, z); end if;

  execute format('with t as (select account_id, count(*) c, sum(n::bigint * price) cost from send_p%s group by 1),
    l as (insert into ledger (account_id, kind, amount, why) select account_id, 4, -cost, ''sends of partition %s'' from t where cost <> 0 order by 1)
    select coalesce(sum(c), 0) from t', k, k) into v_sends;
  execute format('select count(*) from message_p%s', k) into v_messages;
  delete from incident where message_id >= a and message_id < z;
  delete from id_lease where block >= k * 500 and block < (k + 1) * 500;

  for attempt in 1 .. 20 loop
    begin
      execute format('lock table only send, only message, send_p%s, message_p%s in access exclusive mode', k, k);
      execute format('drop table send_p%s, message_p%s', k, k);
      dropped := true; sends := v_sends; messages := v_messages;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise lock_not_available using message = format('others read partition %s', k);
end $$;
`

const keepContacts = `
-- Who wrote last to each number from each address, of the messages p_lo to p_hi - 1 that a carrier took or may have taken.
create function keep_contacts(p_lo bigint, p_hi bigint) returns void language sql as $$
  insert into last_contact (msisdn, sender, account_id, message_id, at)
  select distinct on (msisdn, sender) msisdn, sender, account_id, id, sent_at from message
  where id >= p_lo and id < p_hi and (carrier_id is not null or code = 106)
  order by msisdn, sender, sent_at desc, id desc
  on conflict (msisdn, sender) do update set account_id = excluded.account_id, message_id = excluded.message_id, at = excluded.at
  where (last_contact.at, last_contact.message_id) < (excluded.at, excluded.message_id)
$$;
`

// All rows that may go are locked first. Whoever changed one before is seen by the statement after it, and the row is young
// again; whoever comes later finds it gone. So a refund is either entered before its send goes, or not made.
const dropBlock = `
-- Drops the sends of a block that are older than p_before together with all their messages, all decided and as old.
create function drop_block(p_block bigint, p_before timestamptz, out sends bigint, out messages bigint) language plpgsql as $$
declare a bigint := p_block * 10000; z bigint := (p_block + 1) * 10000;
begin
  perform set_config('lock_timeout', '2s', true);
  perform from message where id >= a and id < z and greatest(sent_at, code_at) < p_before order by id for update;
  with o as (
    select send_first_id, count(*) n from message where id >= a and id < z and greatest(sent_at, code_at) < p_before group by 1
  ), f as materialized (
    select i from flight, unnest(ids) i where i >= a and i < z
  ), g as (
    delete from send s using o
    where s.first_id >= a and s.first_id < z and s.first_id = o.send_first_id and s.n = o.n and greatest(s.created_at, s.scheduled_at) < p_before
      and not exists (select from f where f.i >= s.first_id and f.i < s.first_id + s.n)
    returning s.first_id, s.n, s.account_id, s.price
  ), l as (
    insert into ledger (account_id, kind, amount, why)
    select account_id, 4, -sum(n::bigint * price), 'sends of block ' || p_block from g group by 1 having sum(n::bigint * price) <> 0 order by 1
  )
  select count(*), coalesce(sum(n), 0) from g into sends, messages;

  if sends > 0 then perform keep_contacts(a, z); end if;
  -- Messages without a send: those of the sends that have just gone.
  with m as (
    delete from message m where id >= a and id < z and greatest(sent_at, code_at) < p_before
      and not exists (select from send s where s.first_id >= a and s.first_id < z and s.first_id = m.send_first_id)
    returning id
  )
  delete from incident i using m where i.message_id >= a and i.message_id < z and i.message_id = m.id;
  if exists (select from send where first_id >= a and first_id < z) or exists (select from message where id >= a and id < z) then return; end if;
  delete from incident where message_id >= a and message_id < z;
  delete from id_lease where block = p_block;
end $$;
`

// A block of ids that was leased so long ago cannot get sends any more, and only such blocks are looked through. A partition
// that filled up within a month goes as a whole, which costs next to nothing, once its newest send is old enough; of all
// others the blocks go one by one. (A partition that something holds back for more than a month is one of those.)
const dropHistory = `
-- One step of dropping what is older than p_days. A walk begins with p_after -1; each next step is given v_next of the one before.
create function drop_history(p_after bigint, p_days int, p_contact_days int,
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

  v_state := 'all'; v_next := -1; v_sends := 0; v_messages := 0;
  delete from client_request where at < now() - interval '48 hours';
  delete from orphan_receipt where at < now() - interval '7 days';
  delete from last_contact where at < now() - make_interval(days => p_contact_days);
end $$;
`

export const history: Migration = {
  version: 4,
  name: 'history',
  sql: tables + keepContacts + dropPartition + dropBlock + dropHistory,
}
