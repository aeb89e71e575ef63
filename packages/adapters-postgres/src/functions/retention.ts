import { bulkSendLimits } from '@gateway/core/bulk-sends'
import { OUTCOME } from '@gateway/core/messages'
import { sql } from '../sql/statement.ts'
import { LEDGER } from '../stored-codes.ts'

/**
 * Remembers for each pair of number and sender address the account that wrote last. Considers the messages `p_lo` to
 * `p_hi - 1` that a carrier accepted or may have accepted. The rules are core's `isContact` and `laterContact`.
 */
const keepContacts = sql`
create or replace function keep_contacts(p_lo bigint, p_hi bigint) returns void language sql as $$
  insert into last_contact (msisdn, sender, account_id, message_id, at)
  select distinct on (msisdn, sender) msisdn, sender, account_id, id, sent_at from message
  where id >= p_lo and id < p_hi and not confirms_opt_out
    and (carrier_id is not null or code = ${OUTCOME.unknown})
  order by msisdn, sender, sent_at desc, id desc
  on conflict (msisdn, sender) do update set account_id = excluded.account_id, message_id = excluded.message_id,
    at = excluded.at
  where (last_contact.at, last_contact.message_id) < (excluded.at, excluded.message_id)
$$;
`

/**
 * Drops a partition in which everything is older than `p_before`. `dropped` is null if the partition is still needed,
 * and false if there is more to do. Fails with 55P03 if readers are in the way. Sums the cost of the sends while no
 * send can be added, and before it takes any lock that blocks others. Requests the locks of the parent tables
 * repeatedly, for a moment each. Each call keeps the contacts of some blocks (10 µs a message).
 */
const dropPartition = sql`
create or replace function drop_partition(k bigint, p_before timestamptz, out dropped bool, out sends bigint,
  out messages bigint) language plpgsql
set plan_cache_mode = force_custom_plan as $$
declare a bigint := k * 5000000; z bigint := (k + 1) * 5000000; v_needed bool;
  v_sends bigint; v_messages bigint; v_block bigint;
begin
  sends := 0; messages := 0;
  if (select count(*) from pg_inherits where inhparent = 'send'::regclass and inhrelid = to_regclass('send_p' || k)
        or inhparent = 'message'::regclass and inhrelid = to_regclass('message_p' || k)
        or inhparent = 'message_part'::regclass and inhrelid = to_regclass('message_part_p' || k)) <> 3
          then return; end if;
  perform set_config('lock_timeout', '100ms', true);
  execute format('lock table send_p%s in share mode', k);
  execute format('select exists (select from send_p%s where greatest(created_at, scheduled_at) >= $1)
    or exists (select from message_p%s where greatest(sent_at, code_at) >= $1)', k, k) into v_needed using p_before;
  if v_needed or exists (select from id_lease where block >= k * 500 and block < (k + 1) * 500
    and at > now() - interval '2 days')
    or exists (select from later where lo >= a and lo < z) or exists (select from due where lo >= a and lo < z)
    or exists (select from claimed_batch, unnest(ids) i where i >= a and i < z) then return; end if;

  for v_block in update id_lease set kept = true
    where block in (select block from id_lease where block >= k * 500 and block < (k + 1) * 500 and not kept
      order by block limit 25) returning block
  loop
    perform keep_contacts(v_block * 10000, (v_block + 1) * 10000);
    dropped := false;
  end loop;
  if not dropped then return; end if;
  if not exists (select from id_lease where block >= k * 500 and block < (k + 1) * 500)
    then perform keep_contacts(a, z); end if;

  execute format('
    with totals as (
      select account_id, count(*) sends, sum(n::bigint * price) cost
      from send_p%s
      group by account_id
    ), entries as (
      insert into ledger (account_id, kind, amount, why)
      select account_id, ${LEDGER.droppedSends}, -cost, ''sends of partition %s''
      from totals
      where cost <> 0
      order by account_id
    )
    select coalesce(sum(sends), 0) from totals', k, k) into v_sends;
  execute format('select count(*) from message_p%s', k) into v_messages;
  delete from incident where message_id >= a and message_id < z;
  delete from id_lease where block >= k * 500 and block < (k + 1) * 500;

  for attempt in 1 .. 20 loop
    begin
      execute format('lock table only send, only message, only message_part, send_p%s, message_p%s, message_part_p%s
        in access exclusive mode', k, k, k);
      execute format('drop table send_p%s, message_p%s, message_part_p%s', k, k, k);
      dropped := true; sends := v_sends; messages := v_messages;
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise lock_not_available using message = format('others read partition %s', k);
end $$;
`

/**
 * Drops the old sends of a block, with their messages. A send is old if it is older than `p_before` and all its
 * messages are decided and as old. Locks all of these rows first: a row that changed before is no longer old, and a
 * later change finds no row. So a refund is either entered before its send is dropped, or not made.
 */
const dropBlock = sql`
create or replace function drop_block(p_block bigint, p_before timestamptz, out sends bigint, out messages bigint)
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare a bigint := p_block * 10000; z bigint := (p_block + 1) * 10000;
begin
  perform set_config('lock_timeout', '2s', true);
  perform from message where id >= a and id < z and greatest(sent_at, code_at) < p_before order by id for update;
  with old as (
    select send_first_id, count(*) n
    from message
    where id >= a and id < z and greatest(sent_at, code_at) < p_before
    group by send_first_id
  ), claimed as materialized (
    select id from claimed_batch, unnest(ids) id where id >= a and id < z
  ), gone as (
    delete from send
    using old
    where first_id >= a and first_id < z and first_id = old.send_first_id and send.n = old.n
      and greatest(created_at, scheduled_at) < p_before
      and not exists (select from claimed where claimed.id >= first_id and claimed.id < first_id + send.n)
    returning first_id, send.n, account_id, price
  ), entries as (
    insert into ledger (account_id, kind, amount, why)
    select account_id, ${LEDGER.droppedSends}, -sum(n::bigint * price),
      'sends of block ' || p_block
    from gone
    group by account_id
    having sum(n::bigint * price) <> 0
    order by account_id
  )
  select count(*), coalesce(sum(n), 0) from gone into sends, messages;

  if sends > 0 then perform keep_contacts(a, z); end if;
  -- Messages without a send: those of the sends that have just gone.
  with gone as (
    delete from message
    where id >= a and id < z and greatest(sent_at, code_at) < p_before
      and not exists (select from send where first_id >= a and first_id < z and first_id = message.send_first_id)
    returning id
  ), parts as (
    delete from message_part using gone
    where message_part.id >= a and message_part.id < z and message_part.id = gone.id
  )
  delete from incident using gone
  where incident.message_id >= a and incident.message_id < z and incident.message_id = gone.id;
  if exists (select from send where first_id >= a and first_id < z)
    or exists (select from message where id >= a and id < z) then return; end if;
  delete from incident where message_id >= a and message_id < z;
  delete from id_lease where block = p_block;
end $$;
`

/**
 * Drops inbound messages and the rows that remember facts about them, up to 5,000 rows of each kind. Returns false if
 * there is more to drop.
 */
const dropInboundMessages = sql`
create or replace function drop_inbound_messages(p_before timestamptz, p_contact_days int, p_seen_seconds int,
  p_taken_days int) returns bool language plpgsql
set plan_cache_mode = force_custom_plan as $$
declare v_contacts timestamptz := now() - make_interval(days => p_contact_days); v_most int := 0; v_count int;
begin
  with oldest as (
    select id from inbound_message order by id limit 5000
  ), gone as (
    delete from inbound_message message
    using oldest
    where message.id = oldest.id and message.at < p_before
    returning message.account_id, message.at, message.id
  ), gone_offers as (
    delete from inbound_message_offered offered
    using gone
    where offered.account_id = gone.account_id and offered.at = gone.at and offered.inbound_message_id = gone.id
  ), gone_conversations as (
    delete from conversation
    using gone
    where conversation.account_id = gone.account_id and conversation.last_id = gone.id
  )
  select count(*) into v_count from gone;
  v_most := greatest(v_most, v_count);
  delete from inbound_message_taken where operation = any (array(
    select operation from inbound_message_taken where at < now() - make_interval(days => p_taken_days) order by at
      limit 5000
  ));
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  delete from inbound_message_seen where key = any (array(
    select key from inbound_message_seen where at <= now() - make_interval(secs => p_seen_seconds) order by at
      limit 5000
  )) and at <= now() - make_interval(secs => p_seen_seconds);
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  with oldest as (
    select msisdn, sender from last_contact where at < v_contacts order by at limit 5000
  )
  delete from last_contact contact using oldest
  where contact.msisdn = oldest.msisdn and contact.sender = oldest.sender and contact.at < v_contacts;
  get diagnostics v_count = row_count; v_most := greatest(v_most, v_count);
  -- An address that a number knows an account by is forgotten once nobody can answer to it.
  with oldest as (
    select msisdn from chosen_sender where since < v_contacts order by since limit 5000 for update skip locked
  ), judged as (
    select msisdn, exists (select from message where message.msisdn = oldest.msisdn)
      or exists (select from last_contact where last_contact.msisdn = oldest.msisdn) needed
    from oldest
  ), kept as (
    update chosen_sender chosen set since = now() from judged where chosen.msisdn = judged.msisdn and judged.needed
  ), gone as (
    delete from chosen_sender chosen using judged where chosen.msisdn = judged.msisdn and not judged.needed
  )
  select count(*) into v_count from judged;
  return greatest(v_most, v_count) < 5000;
end $$;
`

/**
 * Does one step of dropping data older than `p_days`. A walk begins with `p_after` -1, and each next step gets `v_next`
 * of the step before. Reads only blocks whose lease is so old that they cannot get sends any more. A partition that
 * filled up within a month is dropped as a whole once its newest send is old enough. All other partitions are dropped
 * block by block.
 */
const dropHistory = sql`
create or replace function drop_history(p_after bigint, p_days int, p_contact_days int, p_seen_seconds int,
  p_taken_days int, p_receipt_days int, p_unread_days int, p_unknown_seconds int, p_answer_seconds int,
  out v_state text, out v_next bigint, out v_partitions int, out v_sends bigint, out v_messages bigint)
    language plpgsql as $$
declare
  v_before timestamptz := now() - make_interval(days => p_days);
  v_leased timestamptz := least(v_before, now() - interval '2 days');
  v_newest bigint := (select last_value / 500 from id_block);
  k bigint;
  v_dropped bool;
  v_count int;
begin
  v_state := 'busy'; v_next := p_after; v_partitions := 0; v_sends := 0; v_messages := 0;
  if not pg_try_advisory_xact_lock('id_lease'::regclass::oid::bigint) then return; end if;
  v_state := 'more';

  if p_after < 0 then
    for k in
      select p.k from (select substr(inhrelid::regclass::text, 7)::bigint k from pg_inherits
        where inhparent = 'send'::regclass and inhrelid::regclass::text ~ '^send_p[0-9]+$') p
      where p.k <= v_newest - 2 and not exists (select from id_lease where block >= p.k * 500
        and block < (p.k + 1) * 500 and at >= v_leased)
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
  if not drop_inbound_messages(v_before, p_contact_days, p_seen_seconds, p_taken_days) then return; end if;
  delete from client_request where ctid = any (array(
    select ctid from client_request where at <= now() - make_interval(secs => p_answer_seconds) order by at limit 5000
  )) and at <= now() - make_interval(secs => p_answer_seconds);
  get diagnostics v_count = row_count;
  if v_count = 5000 then return; end if;
  v_state := 'all'; v_next := -1;
  delete from login_failure where until < now();
  delete from bulk_send
  where created_at < v_before
    or (state = 'draft' and created_at < now() - interval '${bulkSendLimits.draftDays} days');
  delete from unmatched_delivery_receipt where at < now() - make_interval(days => p_receipt_days);
  delete from unread_delivery_receipt where at < now() - make_interval(days => p_unread_days);
  delete from unknown_reference where at < now() - make_interval(secs => p_unknown_seconds);
end $$;
`

export const retentionFunctions = [keepContacts, dropPartition, dropBlock, dropInboundMessages, dropHistory]
