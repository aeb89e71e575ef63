import { OUTCOME } from '@gateway/core/messages'
import { refund } from '../sql/credits.ts'
import { wakeIdle } from '../sql/idle-dispatchers.ts'
import { noteScheduled } from '../sql/scheduled.ts'
import { sql } from '../sql/statement.ts'
import { storeMessageEvents } from '../sql/store-events.ts'
import { LANE } from '../stored-codes.ts'

/** Query for the changes to `later`: ranges that were deleted, and the remainders of them that were inserted again. */
const changedLater = `select p_account account_id, due_at, lo, lo - hi change from from_later
  union all
  select p_account, due_at, lower(part), upper(part) - lower(part) from rest where at is not null`

/**
 * Deletes and refunds scheduled messages (code 102), including messages that have become due, unless a carrier has seen
 * them. Returns the deleted messages with their refunds, then the other messages of the account with their due times
 * and codes. The caller needs only one statement, because a process that stops between two statements would keep the
 * lock of the account. If another statement moves ranges between the read and the delete, they are read again with a
 * new snapshot. The plan uses nested loops by send, because a search by id alone would walk over dead rows.
 */
export const deleteWaiting = sql`
create or replace function delete_waiting(p_account int, p_ids bigint[], p_operation uuid)
returns table (message_id bigint, recipient bigint, refund int, due_time timestamptz, final_code smallint,
  reference text) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
declare
  v_firsts bigint[]; v_counts int[]; v_ranks smallint[]; v_wanted int8multirange[];
  v_ids bigint[] := '{}'; v_numbers bigint[] := '{}'; v_prices int[] := '{}';
  r record;
begin
  select array_agg(first_id), array_agg(n), array_agg(rank), array_agg(wanted)
  into v_firsts, v_counts, v_ranks, v_wanted
  from (
    select s.first_id, s.n, s.rank, range_agg(int8range(u.i, u.i + 1)) wanted
    from unnest(p_ids) u(i) cross join lateral (
      select first_id, n, account_id, -priority rank from send
        where first_id <= u.i and first_id >= u.i / 10000 * 10000
        order by first_id desc limit 1
    ) s
    where s.account_id = p_account and u.i < s.first_id + s.n group by 1, 2, 3
  ) w;
  if v_firsts is null then return; end if;

  perform 1 from account where id = p_account for no key update;
  loop
    with wanted_sends as (
      select * from unnest(v_firsts, v_counts, v_ranks, v_wanted) wanted_send(first_id, n, rank, wanted)
    ), seen_later as materialized (
      select waiting.place
      from wanted_sends w
      cross join lateral (
        select ctid place, lo, hi
        from later
        where account_id = p_account and lo >= w.first_id and lo < w.first_id + w.n and attempt = 0
        order by lo offset 0
      ) waiting
      where w.wanted && int8range(waiting.lo, waiting.hi)
    ), queues_of_account as materialized (
      select queue.id, lane
      from queue
      cross join unnest('{${LANE.single},${LANE.bulk}}'::smallint[]) lanes(lane)
      where (
        select true from due where due.queue = queue.id and due.lane = lanes.lane and account_id = p_account limit 1
      )
    ), seen_due as materialized (
      select waiting.place
      from wanted_sends w
      cross join queues_of_account
      cross join lateral (
        select ctid place, lo, hi
        from due
        where due.queue = queues_of_account.id and due.lane = queues_of_account.lane
          and account_id = p_account and due.rank = w.rank and lo >= w.first_id and lo < w.first_id + w.n
          and deletable
        order by lo offset 0
      ) waiting
      where w.wanted && int8range(waiting.lo, waiting.hi)
    ), from_later as (
      delete from later where ctid = any (array(select place from seen_later))
      returning queue, lane, rank, lo, hi, first_id, due_at, expires_at, at
    ), from_due as (
      delete from due where ctid = any (array(select place from seen_due))
      returning queue, lane, rank, lo, hi, first_id, due_at, expires_at
    ), ranges as materialized (
      select *, v_wanted[array_position(v_firsts, first_id)] * int8multirange(int8range(lo, hi)) cut
      from (select * from from_later union all select *, null from from_due) taken
    ), rest as (
      select ranges.*, unnest(int8multirange(int8range(lo, hi)) - cut) part from ranges
    ), rest_later as (
      insert into later (queue, lane, account_id, rank, lo, hi, first_id, due_at, expires_at, at)
      select queue, lane, p_account, rank, lower(part), upper(part), first_id, due_at, expires_at, at
      from rest
      where at is not null
    ), ${noteScheduled(changedLater)}, rest_due as (
      insert into due (queue, lane, account_id, rank, lo, hi, first_id, due_at, expires_at, deletable)
      select queue, lane, p_account, rank, lower(part), upper(part), first_id, due_at, expires_at, true
      from rest
      where at is null
    ), deleted as (
      select p_account account_id, s.first_id send_first_id, ${OUTCOME.cancelled}::smallint code, s.price amount,
        s.sender, s.confirms_opt_out, lower(c.part) + p.place - 1 id, p.msisdn, now() as at, false has_reference
      from ranges
      join send s on s.first_id = ranges.first_id
      cross join lateral unnest(ranges.cut) c(part)
      cross join lateral unnest(s.msisdns[lower(c.part) - s.first_id + 1 : upper(c.part) - s.first_id])
        with ordinality p(msisdn, place)
    ), messages as (
      insert into message (id, send_first_id, msisdn, account_id, sender, confirms_opt_out, code, code_at)
      select id, send_first_id, msisdn, account_id, sender, confirms_opt_out, code, now()
      from deleted
    ), ${refund('deleted', 'p_operation')}, ${storeMessageEvents('deleted', 'handover')}
    select array_agg(id) ids, array_agg(msisdn) numbers, array_agg(amount) prices,
      (select count(*) from seen_later) + (select count(*) from seen_due) seen, (select count(*) from ranges) got,
      case when exists (select from events) then ${wakeIdle} end woken
    from deleted into r;
    v_ids := v_ids || r.ids; v_numbers := v_numbers || r.numbers; v_prices := v_prices || r.prices;
    exit when r.seen = r.got;
  end loop;

  return query select *, null::timestamptz, null::smallint, null::text from unnest(v_ids, v_numbers, v_prices);
  if cardinality(v_ids) = cardinality(p_ids) then return; end if;
  -- Those that are returned already have code 102 here.
  return query
    select wanted.id, wanted.msisdn, null::int, wanted.due, message.code, message.carrier_id
    from (
      select lower(c.part) + p.place - 1 id, p.msisdn, coalesce(s.scheduled_at, s.created_at) due
      from unnest(v_firsts, v_wanted) wanted_send(first_id, wanted)
      join send s on s.first_id = wanted_send.first_id
      cross join lateral unnest(wanted_send.wanted) c(part)
      cross join lateral unnest(s.msisdns[lower(c.part) - s.first_id + 1 : upper(c.part) - s.first_id])
        with ordinality p(msisdn, place)
    ) wanted
    left join message on message.id = wanted.id;
end $$;
`
