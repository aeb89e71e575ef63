import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Every dispatcher with what it holds, by id and name of the carrier: a row for each carrier, or one whose `carrier` is null.
 * Times in milliseconds. For the ordinary connections: it reads the batches from one end to the other.
 */
export const listDispatchers: PreparedStatement<{
  id: number
  since: number | null
  version: string | null
  lease: number
  overdue: boolean
  carrier: string | null
  batches: number
  messages: number
  in_doubt: number
}> = {
  name: 'list-dispatchers',
  text: `
with h as (
  select f.dispatcher, f.seq, f.carrier, count(*) messages, count(*) filter (where u.n <= f.marked) in_doubt
  from claimed_batch f cross join lateral unnest(f.ids) with ordinality u(id, n)
  where u.id is not null and not exists (select from message m where m.id = u.id)
  group by f.dispatcher, f.seq, f.carrier
), l as (
  select h.dispatcher, k.name carrier, count(*)::int batches, sum(messages)::int messages, sum(in_doubt)::int in_doubt
  from h join carrier k on k.id = h.carrier group by 1, 2
)
select d.id, floor(extract(epoch from d.since) * 1000)::bigint since, d.version, floor(extract(epoch from d.lease_until) * 1000)::bigint lease,
  d.lease_until < now() overdue, l.carrier, l.batches, l.messages, l.in_doubt
from dispatcher d left join l on l.dispatcher = d.id order by d.id, l.carrier collate "C"`,
}

/**
 * What waits of the next $2 accounts after account $1, by account and lane. At least one row, whose `bound` is the last of these
 * accounts, null if there are none; where nothing waits of them the rest of it is null. Times in milliseconds.
 *
 * For the ordinary connections; it walks the accounts and their waiting ranges by index.
 */
export const listQueue: PreparedStatement<{
  bound: number | null
  account: number | null
  lane: number
  due: number
  oldest: number | null
  scheduled: number
  postponed: number
}> = {
  name: 'list-queue',
  text: `
with b as materialized (
  select max(id) bound from (select id from account where id > $1::int order by id limit $2::int) a
), w as (
  select account_id, lane, hi - lo due, due_at, 0 scheduled, 0 postponed
  from due where lane in (0, 1) and account_id > $1::int and account_id <= (select bound from b)
  union all
  select account_id, lane, 0, null, case when attempt = 0 then hi - lo else 0 end, case when attempt > 0 then hi - lo else 0 end
  from later where account_id > $1::int and account_id <= (select bound from b)
)
select b.bound, x.* from b left join (
  select account_id account, lane, sum(due)::bigint due, floor(extract(epoch from min(due_at)) * 1000)::bigint oldest,
    sum(scheduled)::bigint scheduled, sum(postponed)::bigint postponed
  from w group by account_id, lane
) x on true order by x.account, x.lane`,
}
