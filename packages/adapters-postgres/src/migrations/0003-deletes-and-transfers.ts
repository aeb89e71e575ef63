import type { Migration } from './migration.ts'

const columns = `
alter table ledger add column operation uuid;     -- made by its caller before it began: what became of it can be looked up
create index account_parent on account (parent_id) where parent_id is not null;
`

// One statement to its caller: between two, a process that stands still would keep the lock of an account from all others.
//
// Three rules. The account's row is locked first, so that of two deletes of one account one comes after the other. What is
// deleted is what the own delete returned; what was seen and not got was moved meanwhile (promoted, claimed, given back),
// so it is looked for again, with the fresh snapshot that each statement of a function has. What is left of a range waits on.
const deleteWaiting = `
-- Deletes and refunds what of the ids waits for its time, or did, and no carrier has seen (code 102). Returns these with what
-- was refunded; and of the others those that are the account's and are neither deleted nor too old, with null.
create function delete_waiting(p_account int, p_ids bigint[], p_since timestamptz, p_operation uuid)
returns table (message_id bigint, recipient bigint, refund int) language plpgsql as $$
declare
  v_ids bigint[] := '{}'; v_numbers bigint[] := '{}'; v_prices int[] := '{}';
  r record;
begin
  perform 1 from account where id = p_account for no key update;
  if not found then return; end if;
  loop
    with h as (
      select w.i, t.src, t.lo from unnest(p_ids) w(i) cross join lateral (
        select -1 src, l.lo from (select lo, hi, attempt from later where account_id = p_account and lo <= w.i order by lo desc limit 1) l
        where w.i < l.hi and attempt = 0
        union all
        select 0, d.lo from (select lo, hi, deletable from due where lane = 0 and account_id = p_account and lo <= w.i order by lo desc limit 1) d
        where w.i < d.hi and deletable
        union all
        select 1, d.lo from (select lo, hi, deletable from due where lane = 1 and account_id = p_account and lo <= w.i order by lo desc limit 1) d
        where w.i < d.hi and deletable
      ) t
    ), c as (
      select src, lo, range_agg(int8range(i, i + 1)) cut from h group by 1, 2
    ), dl as (
      delete from later l using c where c.src = -1 and l.account_id = p_account and l.lo = c.lo returning l.*, c.cut
    ), dd as (
      delete from due d using c where c.src >= 0 and d.lane = c.src and d.account_id = p_account and d.lo = c.lo returning d.*, c.cut
    ), g as (
      select -1 src, lane, lo, hi, first_id, due_at, at, cut from dl
      union all
      select lane, lane, lo, hi, first_id, due_at, null, cut from dd
    ), rest as (
      select g.*, unnest(int8multirange(int8range(lo, hi)) - cut) part from g
    ), rl as (
      insert into later (lane, account_id, lo, hi, first_id, due_at, at)
      select lane, p_account, lower(part), upper(part), first_id, due_at, at from rest where src = -1
    ), rd as (
      insert into due (lane, account_id, lo, hi, first_id, due_at, deletable)
      select lane, p_account, lower(part), upper(part), first_id, due_at, true from rest where src >= 0
    ), k as (
      select first_id, range_agg(part) cut from g cross join lateral unnest(g.cut) part group by 1
    ), e as (
      select s.first_id, s.price, s.sender, p.o + s.first_id - 1 id, p.msisdn
      from k join send s on s.first_id = k.first_id cross join lateral unnest(s.msisdns) with ordinality p(msisdn, o)
      where k.cut @> (p.o + s.first_id - 1)
    ), m as (
      insert into message (id, send_first_id, msisdn, account_id, sender, code, code_at)
      select id, first_id, msisdn, p_account, sender, 102, now() from e
    ), lg as (
      insert into ledger (account_id, kind, amount, send_first_id, why, operation)
      select p_account, 3, sum(price), first_id, 'deleted', p_operation from e group by first_id returning amount
    ), ac as (
      update account set balance = balance + (select sum(amount) from lg) where id = p_account and exists (select from lg)
    )
    select array_agg(id) ids, array_agg(msisdn) numbers, array_agg(price) prices, (select count(*) from c) seen, (select count(*) from g) got
    from e into r;
    v_ids := v_ids || r.ids; v_numbers := v_numbers || r.numbers; v_prices := v_prices || r.prices;
    exit when r.seen = r.got;
  end loop;

  return query select * from unnest(v_ids, v_numbers, v_prices);
  if cardinality(v_ids) = cardinality(p_ids) then return; end if;
  return query
    select u.i, coalesce(m.msisdn, s.msisdns[u.i - s.first_id + 1]), null::int
    from unnest(p_ids) u(i) left join message m on m.id = u.i cross join lateral (
      select first_id, n, account_id, msisdns, coalesce(scheduled_at, created_at) due_at
      from send where first_id <= u.i and first_id >= u.i / 10000 * 10000 order by first_id desc limit 1
    ) s
    where s.account_id = p_account and u.i < s.first_id + s.n and u.i <> all (v_ids)
      and (m.id is null or ((m.code <> 102 or m.carrier_id is not null) and date_trunc('milliseconds', s.due_at) >= p_since));
end $$;
`

// Both accounts are locked in the order of their ids before anything is decided: a single statement that did it all
// deadlocked, or found a balance that was gone, in one of six races.
const transfer = `
-- Moves credits, or says why it did not. Null: one of the accounts is not there.
create function transfer_credits(p_from int, p_to int, p_amount bigint, p_at timestamptz, p_operation uuid)
returns text language plpgsql as $$
declare f account; t account;
begin
  perform 1 from account where id in (p_from, p_to) order by id for no key update;
  select * into f from account where id = p_from;
  select * into t from account where id = p_to;
  if f.id is null or t.id is null then return null; end if;
  if f.locked then return 'from-locked'; end if;
  if t.locked then return 'to-locked'; end if;
  if f.balance < p_amount then return 'insufficient-credits'; end if;
  if t.balance > 9007199254740991 - p_amount then return 'failed'; end if;
  update account set balance = balance + case id when p_from then -p_amount else p_amount end where id in (p_from, p_to);
  insert into ledger (account_id, kind, amount, at, why, operation) values
    (p_from, 2, -p_amount, p_at, 'to ' || p_to, p_operation),
    (p_to, 2, p_amount, p_at, 'from ' || p_from, p_operation);
  return 'done';
end $$;
`

export const deletesAndTransfers: Migration = {
  version: 3,
  name: 'deletes-and-transfers',
  sql: columns + deleteWaiting + transfer,
}
