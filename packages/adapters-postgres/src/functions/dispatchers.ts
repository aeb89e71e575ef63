import { INCIDENT, OUTCOME } from '@gateway/core/messages'
import { sql } from '../sql/statement.ts'
import { storeMessageEvents } from '../sql/store-events.ts'

/**
 * Ends one claimed batch of a dispatcher, or all of them. Messages that may have been submitted and have no message row
 * get outcome 106; the others go back to `due`. Acts only on `claimed_batch` rows that its own delete returned, because
 * without its row a dispatcher has no right to the ids. Cost: 10 µs, 180 bytes of log a message.
 */
const releaseClaimedBatches = sql`
create or replace function release_claimed_batches(p_dispatcher bigint, p_seq int default null, out requeued bigint,
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
    select id, first_id, msisdn, account_id, sender, confirms_opt_out, carrier, ${OUTCOME.unknown}
    from undecided
    where marked
    order by id
    on conflict (id) do nothing
    returning id, account_id, msisdn, code, sent_at as at, confirms_opt_out, send_first_id,
      false as has_reference
  ), incidents as (
    insert into incident (message_id, what) select id, '${INCIDENT.recovered}' from unknown_messages
  ), ${storeMessageEvents('unknown_messages', 'handover')}
  select (select coalesce(sum(messages), 0) from due_again), (select count(*) from unknown_messages),
    (select count(*) from held), (select count(*) from known)
  into requeued, unknown, v_in, v_out;
  if v_in <> v_out then
    raise exception 'a claimed batch of dispatcher % holds ids without their send', p_dispatcher;
  end if;
end $$;
`

/** Ends the dispatchers whose lease is over, except dispatchers that another process is ending. */
const recover = sql`
create or replace function recover(out requeued bigint, out unknown bigint) language plpgsql as $$
declare v_id bigint; r record;
begin
  requeued := 0; unknown := 0;
  for v_id in select id from dispatcher where lease_until < clock_timestamp() order by id for update skip locked loop
    select * into r from release_claimed_batches(v_id);
    requeued := requeued + r.requeued; unknown := unknown + r.unknown;
    delete from dispatcher where id = v_id;
  end loop;
end $$;
`

/** Ends one dispatcher, whether or not its lease is over. Does nothing if it has ended. */
const retire = sql`
create or replace function retire(p_dispatcher bigint) returns void language plpgsql as $$
begin
  perform 1 from dispatcher where id = p_dispatcher for update;
  if not found then return; end if;
  perform release_claimed_batches(p_dispatcher);
  delete from dispatcher where id = p_dispatcher;
end $$;
`

/**
 * Gives back a claimed batch after the answer to the claim was lost, which means that none of its messages was sent.
 * Stores an empty row for a claim that is still running, because that row stops the claim. The empty row stays even if
 * this is run again.
 */
const disown = sql`
create or replace function disown(p_dispatcher bigint, p_seq int) returns void language plpgsql as $$
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
`

export const dispatcherFunctions = [releaseClaimedBatches, recover, retire, disown]
