import type { HotStatement } from './hot-statement.ts'

/**
 * Waiting ranges that were due more than $1 seconds ago become 101, refunded: at most $2 ranges of each table. Returns how
 * many messages. Nothing waits again before it is due, so that `at` is never before `due_at`, and the same for attempt 0.
 */
export const expire: HotStatement<{ expired: number }> = {
  name: 'expire',
  text: `
with a as (
  select ctid as place from due where due_at < now() - make_interval(secs => $1::float8) order by due_at limit $2::int for update skip locked
), b as (
  select ctid as place from later where at < now() - make_interval(secs => $1::float8) order by at limit $2::int for update skip locked
), t as (
  select ctid as place from later where attempt > 0 and due_at < now() - make_interval(secs => $1::float8) order by due_at limit $2::int for update skip locked
), da as (
  delete from due where ctid = any (array(select place from a)) returning lo, hi, first_id
), db as (
  delete from later where ctid = any (array(select place from b union select place from t limit $2::int)) returning lo, hi, first_id
), v as (
  select i.id, s.first_id, s.account_id, s.sender, s.price, s.msisdns[i.id - s.first_id + 1] msisdn
  from (select * from da union all select * from db) x
  cross join lateral (select first_id, account_id, sender, price, msisdns from send where first_id = x.first_id offset 0) s
  cross join lateral generate_series(x.lo, x.hi - 1) i(id)
), m as (
  insert into message (id, send_first_id, msisdn, account_id, sender, code, code_at) select id, first_id, msisdn, account_id, sender, 101, now() from v
), l as (
  insert into ledger (account_id, kind, amount, send_first_id, why) select account_id, 3, sum(price), first_id, 'code 101' from v group by account_id, first_id
), ac as (
  update account set balance = balance + y.amount from (select account_id, sum(price) amount from v group by 1 order by 1) y where account.id = any (array[y.account_id])
)
select count(*)::int as expired from v`,
}
