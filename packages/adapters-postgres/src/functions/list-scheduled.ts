import { sql } from '../sql/statement.ts'

/**
 * Lists scheduled messages of an account, including due messages that can still be deleted: `p_limit` messages from
 * `p_offset` on, ordered by due time and id. Returns at least one row, with the total and the number of changes that
 * are not yet in the counts. Times are in milliseconds. The function is stable, so that all of it reads in the snapshot
 * of its caller. Due ranges come first. They are read one by one, together with the ranges of `later` that are due no
 * later.
 */
const listMessages = (name: string, hasOptions: boolean): string => sql`
create or replace function ${name}(p_account int, p_offset bigint, p_limit bigint)
returns table (total bigint, unfolded bigint, id bigint, number bigint, submitted bigint, due bigint, price int,
  client_reference text${hasOptions ? ', options jsonb' : ''})
  language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
declare
  v_due bigint; v_last timestamptz; v_overdue bigint := 0;
  v_scheduled bigint; v_unfolded bigint;
  v_from bigint; v_to bigint; v_before bigint;
  v_hour timestamptz; v_at timestamptz; v_lo bigint;
begin
  select coalesce(sum(hi - lo), 0), max(due_at) into v_due, v_last
  from due where account_id = p_account and deletable;
  if v_due > 0 then
    select coalesce(sum(hi - lo), 0) into v_overdue
    from later where account_id = p_account and due_at <= v_last and attempt = 0;
  end if;
  select coalesce(sum(change), 0), count(*) into v_scheduled, v_unfolded from scheduled_change
    where account_id = p_account;
  v_scheduled := v_scheduled + coalesce((select sum(n) from scheduled_hour where account_id = p_account), 0);

  -- Places in the order of later alone.
  v_from := greatest(p_offset - v_due, v_overdue); v_to := least(p_offset - v_due + p_limit, v_scheduled);
  if v_from < v_to then
    select before, hour into v_before, v_hour
    from (
      select hour, sum(n) over (order by hour) - n before, n
      from (
        select hour, sum(n) n
        from (
          select hour, n from scheduled_hour where account_id = p_account
          union all
          select date_bin('1 hour', due_at, 'epoch'), change from scheduled_change where account_id = p_account
        ) counted (hour, n)
        group by hour
      ) hours
    ) summed
    where before + n > v_from
    order by hour limit 1;
    select v_before + before, due_at, block * 1000 into v_before, v_at, v_lo
    from (
      select due_at, block, sum(n) over (order by due_at, block) - n before, n
      from (
        select due_at, block, sum(n) n
        from (
          select due_at, block, n from scheduled_block where account_id = p_account and due_at >= v_hour
            and due_at < v_hour + interval '1 hour'
          union all
          select due_at, block, change from scheduled_change where account_id = p_account and due_at >= v_hour
            and due_at < v_hour + interval '1 hour'
        ) counted (due_at, block, n)
        group by due_at, block
      ) blocks
    ) summed
    where v_before + before + n > v_from
    order by due_at, block limit 1;
  end if;

  return query
    with overdue as (
      select lo, hi, first_id, due_at from due where v_due + v_overdue > p_offset and account_id = p_account
        and deletable
      union all
      select lo, hi, first_id, due_at from later
      where v_due + v_overdue > p_offset and v_overdue > 0 and account_id = p_account and due_at <= v_last
        and attempt = 0
    ), placed_overdue as (
      select overdue.*, (sum(hi - lo) over (order by due_at, lo) - (hi - lo))::bigint before from overdue
    ), scheduled as (
      select lo, hi, first_id, due_at from later
      where v_from < v_to and account_id = p_account and (due_at, lo) >= (v_at, v_lo) and attempt = 0
      order by due_at, lo limit v_to - v_before
    ), placed_scheduled as (
      select scheduled.*, (v_before + sum(hi - lo) over (order by due_at, lo) - (hi - lo))::bigint before from scheduled
    ), pieces as (
      select first_id, due_at, lo + greatest(0, p_offset - before) piece_lo,
        lo + least(hi - lo, p_offset + p_limit - before) piece_hi
      from placed_overdue where before + (hi - lo) > p_offset and before < p_offset + p_limit
      union all
      select first_id, due_at, lo + greatest(0, v_from - before), lo + least(hi - lo, v_to - before)
      from placed_scheduled where before + (hi - lo) > v_from and before < v_to
    ), items as (
      select piece_lo + place - 1 id, msisdn, floor(extract(epoch from send.created_at) * 1000)::bigint submitted,
        floor(extract(epoch from pieces.due_at) * 1000)::bigint due, send.price, its_reference${hasOptions ? ', its_options' : ''}
      from pieces
      cross join lateral (
        select s.created_at, s.price,${hasOptions ? ' s.options its_options,' : ''}
          s.msisdns[pieces.piece_lo - s.first_id + 1 : pieces.piece_hi - s.first_id] numbers,
          s.client_references[pieces.piece_lo - s.first_id + 1 : pieces.piece_hi - s.first_id] its_references
        from send s where s.first_id = pieces.first_id offset 0
      ) send
      cross join lateral unnest(send.numbers, send.its_references) with ordinality
        numbered(msisdn, its_reference, place)
    )
    select v_due + v_scheduled, v_unfolded, items.*
    from (values (1)) always left join items on true
    order by items.due, items.id;
end $$;
`

/** The function of version 0.2.0, whose result has no options. */
export const listScheduled = listMessages('list_scheduled', false)

export const listScheduledMessages = listMessages('list_scheduled_messages', true)
