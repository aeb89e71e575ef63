import type { ClaimRow } from './claim-row.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Claims from the bulk lane: at most $5 messages of one send, its oldest ranges (at most $4, the last one split), of the
 * account that is next after the cursor $3. $1 dispatcher, $2 number of the claimed batch (new each time), $6 marked at birth,
 * $7 lease in seconds, $8 carrier. Cost: 1.2 µs, 11 bytes of log a message, slices of 500.
 *
 * What screening needs comes with it: nothing to pay where neither the account nor everybody has suppressed numbers, else
 * 3 µs a message.
 */
export const claimBulk: PreparedStatement<ClaimRow> = {
  name: 'claim-bulk',
  text: `
with a as (
  select coalesce((select account_id from due where lane = 1 and account_id > $3::int order by account_id limit 1),
                  (select account_id from due where lane = 1 order by account_id limit 1)) id
), c as (
  select place, account_id, lo, (sum(hi - lo) over (order by lo) - (hi - lo))::bigint before, first_id = first_value(first_id) over (order by lo) same
  from (select ctid as place, account_id, lo, hi, first_id from due where lane = 1 and account_id = (select id from a) order by lo limit $4::int for update skip locked) x
), me as (
  update dispatcher set lease_until = now() + make_interval(secs => $7::float8) where id = $1::bigint and exists (select from c) returning id
), d as (
  delete from due using c
  where due.ctid = c.place and c.same and c.before < $5::int and exists (select from me)
  returning due.*, least(due.hi, due.lo + $5::int - c.before) upto
), r as (
  insert into due (lane, attempt, account_id, lo, hi, first_id, due_at, deletable)
  select lane, attempt, account_id, upto, hi, first_id, due_at, deletable from d where upto < hi
), f as (
  insert into claimed_batch (dispatcher, seq, carrier, marked, ids, send_first_ids, attempts)
  select $1::bigint, $2::int, $8::smallint, least($6::int, count(*)), array_agg(i), array[min(first_id)], case when max(attempt) > 0 then array_agg(attempt) end
  from (select i, first_id, attempt from d, generate_series(d.lo, d.upto - 1) i order by i) x having count(*) > 0
)
select (select id from a) as cursor, exists (select from dispatcher where id = $1::bigint) as alive, z.*
from (select 1) one left join (
  select d.lo, d.first_id as send, d.account_id as account, d.attempt, d.due_at as due, s.sender, s.confirms_opt_out as "confirmsOptOut", s.body, s.parts,
    array_to_string(s.msisdns[d.lo - s.first_id + 1:d.upto - s.first_id], ',') as numbers, a.locked,
    case when exists (select from suppression where account_id in (0, d.account_id)) then (
      select string_agg(u.o || ':' || x.kind, ',')
      from unnest(s.msisdns[d.lo - s.first_id + 1:d.upto - s.first_id]) with ordinality u(msisdn, o)
      cross join lateral (select kind from suppression where account_id in (0, d.account_id) and msisdn = u.msisdn offset 0) x) end as suppressed
  from d
  cross join lateral (select sender, confirms_opt_out, body, parts, msisdns, first_id from send where first_id = d.first_id offset 0) s
  cross join lateral (select locked from account where id = d.account_id offset 0) a) z on true`,
}
