// Within one statement: a process that stands still between two would keep the lock of an account. What was seen and not got was
// moved meanwhile, and is looked for again with a fresh snapshot. Nested loops by send: a search by id alone walks over dead rows.
export const deleteWaiting = `
-- Deletes and refunds what of the ids waits for its time, or did, and no carrier has seen (code 102). Returns these with what
-- was refunded; and of the others those that are the account's and are neither deleted nor too old, with null.
create function delete_waiting(p_account int, p_ids bigint[], p_since timestamptz, p_operation uuid)
returns table (message_id bigint, recipient bigint, refund int) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_firsts bigint[]; v_counts int[]; v_wanted int8multirange[];
  v_ids bigint[] := '{}'; v_numbers bigint[] := '{}'; v_prices int[] := '{}';
  r record;
begin
  select array_agg(first_id), array_agg(n), array_agg(wanted) into v_firsts, v_counts, v_wanted
  from (
    select s.first_id, s.n, range_agg(int8range(u.i, u.i + 1)) wanted
    from unnest(p_ids) u(i) cross join lateral (
      select first_id, n, account_id from send where first_id <= u.i and first_id >= u.i / 10000 * 10000 order by first_id desc limit 1
    ) s
    where s.account_id = p_account and u.i < s.first_id + s.n group by 1, 2
  ) w;
  if v_firsts is null then return; end if;

  perform 1 from account where id = p_account for no key update;
  loop
    with w as (
      select * from unnest(v_firsts, v_counts, v_wanted) w(first_id, n, wanted)
    ), cl as materialized (
      select l.place from w cross join lateral (
        select ctid place, lo, hi from later where account_id = p_account and lo >= w.first_id and lo < w.first_id + w.n and attempt = 0 order by lo offset 0
      ) l where w.wanted && int8range(l.lo, l.hi)
    ), cd as materialized (
      select d.place from w cross join lateral (
        select ctid place, lo, hi from due where lane = case when w.n <= 10 then 0 else 1 end
          and account_id = p_account and lo >= w.first_id and lo < w.first_id + w.n and deletable order by lo offset 0
      ) d where w.wanted && int8range(d.lo, d.hi)
    ), dl as (
      delete from later where ctid = any (array(select place from cl)) returning lane, lo, hi, first_id, due_at, at
    ), dd as (
      delete from due where ctid = any (array(select place from cd)) returning lane, lo, hi, first_id, due_at
    ), g as materialized (
      select *, v_wanted[array_position(v_firsts, first_id)] * int8multirange(int8range(lo, hi)) cut
      from (select * from dl union all select *, null from dd) x
    ), rest as (
      select g.*, unnest(int8multirange(int8range(lo, hi)) - cut) part from g
    ), rl as (
      insert into later (lane, account_id, lo, hi, first_id, due_at, at)
      select lane, p_account, lower(part), upper(part), first_id, due_at, at from rest where at is not null
    ), rd as (
      insert into due (lane, account_id, lo, hi, first_id, due_at, deletable)
      select lane, p_account, lower(part), upper(part), first_id, due_at, true from rest where at is null
    ), e as (
      select s.first_id, s.price, s.sender, lower(c.part) + p.o - 1 id, p.msisdn
      from g join send s on s.first_id = g.first_id cross join lateral unnest(g.cut) c(part)
      cross join lateral unnest(s.msisdns[lower(c.part) - s.first_id + 1 : upper(c.part) - s.first_id]) with ordinality p(msisdn, o)
    ), m as (
      insert into message (id, send_first_id, msisdn, account_id, sender, code, code_at)
      select id, first_id, msisdn, p_account, sender, 102, now() from e
    ), lg as (
      insert into ledger (account_id, kind, amount, send_first_id, why, operation)
      select p_account, 3, sum(price), first_id, 'deleted', p_operation from e group by first_id returning amount
    ), ac as (
      update account set balance = balance + (select sum(amount) from lg) where id = p_account and exists (select from lg)
    )
    select array_agg(id) ids, array_agg(msisdn) numbers, array_agg(price) prices,
      (select count(*) from cl) + (select count(*) from cd) seen, (select count(*) from g) got
    from e into r;
    v_ids := v_ids || r.ids; v_numbers := v_numbers || r.numbers; v_prices := v_prices || r.prices;
    exit when r.seen = r.got;
  end loop;

  return query select * from unnest(v_ids, v_numbers, v_prices);
  if cardinality(v_ids) = cardinality(p_ids) then return; end if;
  -- What was deleted, now or before, has code 102 without a carrier's id.
  return query
    select lower(c.part) + p.o - 1, p.msisdn, null::int
    from unnest(v_firsts, v_wanted) w(first_id, wanted) join send s on s.first_id = w.first_id cross join lateral unnest(w.wanted) c(part)
    cross join lateral unnest(s.msisdns[lower(c.part) - s.first_id + 1 : upper(c.part) - s.first_id]) with ordinality p(msisdn, o)
    left join message m on m.id = lower(c.part) + p.o - 1
    where m.id is null or ((m.code <> 102 or m.carrier_id is not null)
      and date_trunc('milliseconds', coalesce(s.scheduled_at, s.created_at)) >= p_since);
end $$;
`
