import { LEDGER } from '../../../credits/ledger-kind.ts'

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
    select account_id, ${LEDGER.droppedSends}, -sum(n::bigint * price), 'sends of block ' || p_block
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
  if exists (select from send where first_id >= a and first_id < z) or exists (select from message where id >= a and id < z) then return; end if;
  delete from incident where message_id >= a and message_id < z;
  delete from id_lease where block = p_block;
end $$;
`
