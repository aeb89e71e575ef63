import { LEDGER } from '../stored-codes.ts'
import { milliseconds } from './milliseconds.ts'

/** Times in milliseconds. Kind: as `LEDGER`. */
export interface MovementRow {
  readonly account: number
  readonly at: number
  readonly kind: number
  readonly amount: number
  readonly balance: number
  readonly first: number | null
  readonly messages: number | null
  readonly code: number | null
  readonly other: number | null
  readonly why: string | null
  readonly message: number | null
}

/**
 * The movements of account $1, or of all if it is null, from $2 (or null) to before $3 (or null), by time; sums of dropped sends count as of $4 days
 * before they were entered. The balance after each is counted back from the balance that there is, so that of what was
 * before $2 nothing is read.
 *
 * Sends have no index by account or time. Where there is a $2, only those are read whose ids were leased since then: an id
 * is used within two days of the lease of its block (so retention has it). The cursor outlives its transaction: a slow
 * reader holds a connection and no snapshot.
 *
 * For the ordinary connections.
 */
export const declareMovements = `
declare movements no scroll cursor with hold for
with entries as (
  select account_id, case when kind = ${LEDGER.droppedSends} then at - make_interval(days => $4::int) else at end at,
    amount, kind, send_first_id, code, other_account_id, why, message_id, id
  from ledger
  where $1::int is null or account_id = $1::int
), moved as (
  select account_id, at, amount, kind::int, send_first_id "first", null::int messages, code, other_account_id other, why, message_id message, 0 part, id
  from entries
  where $2::timestamptz is null or at >= $2::timestamptz
  union all
  select account_id, created_at, -n::bigint * price, ${LEDGER.send}, first_id, n, null, null, null, null, 1, first_id
  from send
  where ($1::int is null or account_id = $1::int) and price > 0 and ($2::timestamptz is null or created_at >= $2::timestamptz and first_id >= coalesce(
    (select min(block) * 10000 from id_lease where at >= $2::timestamptz - interval '2 days'), 0
  ))
), balanced as (
  select moved.*, (account.balance - sum(amount) over (partition by account_id) + sum(amount) over (partition by account_id order by at, part, moved.id rows unbounded preceding))::bigint balance
  from moved
  join account on account.id = moved.account_id
)
select account_id account, ${milliseconds('at')} at, kind, amount, balance, "first", messages, code, other, why, message
from balanced
where $3::timestamptz is null or at < $3::timestamptz
order by account_id, balanced.at, part, id`

export const fetchMovements = 'fetch 500 from movements'

export const closeMovements = 'close movements'
