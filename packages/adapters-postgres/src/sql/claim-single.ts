import type { ClaimRow } from './claim-row.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Claims from the single lane: of each account, walked from a cursor by a loose index scan, an equal share of its oldest
 * ranges, one range of each in turn until the messages are enough; the last range is taken whole. Ranges are deleted by their place (ctid): they are locked and never updated, so it holds, and no
 * statistics of a nearly empty queue make that a search of the whole one. $1 dispatcher, $2 number
 * of the batch (new each time), $3 cursor (0 at first), $4 most accounts, $5 most messages, $6 marked at birth, $7 lease
 * in seconds, $8 carrier. The next walk begins after the last account that had its turn.
 *
 * What screening needs comes with it, from the same snapshot: 1 µs a message where its account has no suppressed numbers
 * and none hold for everybody, else 4 to 5 µs. In all 10 to 14 µs, 240 bytes of log a message (1000 accounts).
 */
export const claimSingle: PreparedStatement<ClaimRow> = {
  name: 'claim-single',
  text: `
with recursive acc (account_id, k) as (
  select coalesce((select account_id from due where lane = 0 and account_id > $3::int order by account_id limit 1),
                  (select account_id from due where lane = 0 order by account_id limit 1)), 1
  union all
  select (select d.account_id from due d where d.lane = 0 and d.account_id > acc.account_id order by d.account_id limit 1), k + 1
  from acc where acc.account_id is not null and k < $4::int
), lim as (
  select count(account_id) n, max(account_id) last from acc
), l as (
  select y.* from acc cross join lateral (
    select ctid as place, account_id, lo, hi from due where lane = 0 and account_id = acc.account_id order by lo
    limit (select ceil($5::float8 / greatest(n, 1))::int from lim) for update skip locked) y
  where acc.account_id is not null
), t as (
  select place, account_id, lo, hi, row_number() over (partition by account_id order by lo) turn from l
), c as (
  select place, account_id, lo, turn, sum(hi - lo) over (order by turn, account_id rows unbounded preceding) - (hi - lo) before from t
), me as (
  update dispatcher set lease_until = now() + make_interval(secs => $7::float8) where id = $1::bigint and exists (select from c) returning id
), d as (
  delete from due where ctid = any (array(select place from c where before < $5::int)) and exists (select from me)
  returning due.*
), f as (
  insert into claimed_batch (dispatcher, seq, carrier, marked, ids, send_first_ids, attempts)
  select $1::bigint, $2::int, $8::smallint, least($6::int, count(*)), array_agg(i), array_agg(first_id), case when max(attempt) > 0 then array_agg(attempt) end
  from (select i, first_id, attempt from d, generate_series(d.lo, d.hi - 1) i order by i) x having count(*) > 0
)
select coalesce((select max(account_id) from c where turn = 1 and before < $5::int), (select last from lim)) as cursor,
  exists (select from dispatcher where id = $1::bigint) as alive, z.*
from (select 1) one left join (
  select d.lo, d.first_id as send, d.account_id as account, d.attempt, d.due_at as due, s.sender, s.confirms_opt_out as "confirmsOptOut", s.body, s.parts,
    array_to_string(s.msisdns[d.lo - s.first_id + 1:d.hi - s.first_id], ',') as numbers, a.locked,
    case when (select exists (select from suppression where account_id = 0)) or exists (select from suppression where account_id = d.account_id) then (
      select string_agg(u.o || ':' || x.kind, ',')
      from unnest(s.msisdns[d.lo - s.first_id + 1:d.hi - s.first_id]) with ordinality u(msisdn, o)
      cross join lateral (select kind from suppression where account_id in (0, d.account_id) and msisdn = u.msisdn offset 0) x) end as suppressed
  from d
  cross join lateral (select sender, confirms_opt_out, body, parts, msisdns, first_id from send where first_id = d.first_id offset 0) s
  cross join lateral (select locked from account where id = d.account_id offset 0) a) z on true`,
}
