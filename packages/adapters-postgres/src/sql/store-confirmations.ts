import { LANE } from '../stored-codes.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/** Stores confirmations of opt-outs, due at once: $1 ids, $2 accounts, $3 `sender.id`, $4 numbers, $5 routes, $6 text and $7 parts of all. */
export const storeConfirmations: PreparedStatement<object> = {
  name: 'store-confirmations',
  text: `
with sends as (
  insert into send (first_id, n, account_id, sender, confirms_opt_out, price, parts, route, body, msisdns)
  select id, 1, account_id, sender, true, 0, $7::smallint, route, $6::text, array[msisdn]
  from unnest($1::bigint[], $2::int[], $3::int[], $4::bigint[], $5::smallint[]) request(id, account_id, sender, msisdn, route)
  returning first_id, account_id, route
), due_now as (
  insert into due (queue, lane, account_id, lo, hi, first_id)
  select route, ${LANE.single}, account_id, first_id, first_id + 1, first_id
  from sends
)
select ${wakeIdle} as woken`,
}
