// All rows that may go are locked first: a row that was changed before is young again, and a later change finds it gone. So a
// refund is either entered before its send goes, or not made.
export const dropBlock = `
-- Drops the sends of a block that are older than p_before together with all their messages, all decided and as old.
create function drop_block(p_block bigint, p_before timestamptz, out sends bigint, out messages bigint) language plpgsql
set plan_cache_mode = force_custom_plan as $$
declare a bigint := p_block * 10000; z bigint := (p_block + 1) * 10000;
begin
  perform set_config('lock_timeout', '2s', true);
  perform from message where id >= a and id < z and greatest(sent_at, code_at) < p_before order by id for update;
  with o as (
    select send_first_id, count(*) n from message where id >= a and id < z and greatest(sent_at, code_at) < p_before group by 1
  ), f as materialized (
    select i from claimed_batch, unnest(ids) i where i >= a and i < z
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
