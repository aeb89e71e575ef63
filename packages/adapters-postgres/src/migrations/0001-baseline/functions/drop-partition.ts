import { LEDGER } from '../../../credits/ledger-kind.ts'

// What the sends cost is summed while nobody can add one, and before any lock that others wait for. The locks on the parents are
// asked for again and again, each time for a moment only. Keeping contacts (10 µs a message) goes some blocks at a time.
export const dropPartition = `
-- Drops a partition of which everything is older than p_before. Null: still needed. False: call it again. 55P03: readers are in the way, try later.
create function drop_partition(k bigint, p_before timestamptz, out dropped bool, out sends bigint, out messages bigint) language plpgsql
set plan_cache_mode = force_custom_plan as $$
declare a bigint := k * 5000000; z bigint := (k + 1) * 5000000; v_needed bool; v_sends bigint; v_messages bigint; v_block bigint;
begin
  sends := 0; messages := 0;
  if (select count(*) from pg_inherits where inhparent = 'send'::regclass and inhrelid = to_regclass('send_p' || k)
        or inhparent = 'message'::regclass and inhrelid = to_regclass('message_p' || k)
        or inhparent = 'message_part'::regclass and inhrelid = to_regclass('message_part_p' || k)) <> 3 then return; end if;
  perform set_config('lock_timeout', '100ms', true);
  execute format('lock table send_p%s in share mode', k);
  execute format('select exists (select from send_p%s where greatest(created_at, scheduled_at) >= $1)
    or exists (select from message_p%s where greatest(sent_at, code_at) >= $1)', k, k) into v_needed using p_before;
  if v_needed or exists (select from id_lease where block >= k * 500 and block < (k + 1) * 500 and at > now() - interval '2 days')
    or exists (select from later where lo >= a and lo < z) or exists (select from due where lo >= a and lo < z)
    or exists (select from claimed_batch, unnest(ids) i where i >= a and i < z) then return; end if;

  for v_block in update id_lease set kept = true
    where block in (select block from id_lease where block >= k * 500 and block < (k + 1) * 500 and not kept order by block limit 25) returning block
  loop
    perform keep_contacts(v_block * 10000, (v_block + 1) * 10000);
    dropped := false;
  end loop;
  if not dropped then return; end if;
  if not exists (select from id_lease where block >= k * 500 and block < (k + 1) * 500) then perform keep_contacts(a, z); end if;

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
      execute format('lock table only send, only message, only message_part, send_p%s, message_p%s, message_part_p%s in access exclusive mode', k, k, k);
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
