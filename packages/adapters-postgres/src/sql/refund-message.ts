import { OUTCOME } from '@gateway/core'
import { LEDGER } from '../stored-codes.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Gives the charge of message $1 back for the reason $2, at $3 and as operation $4, if a carrier took it, or may have, and it was not
 * given back before. One row; `amount` null: nothing was done, and the rest says why. Whoever asks next, or learns late that no carrier
 * took it, finds the row of the message changed.
 */
export const refundMessage: PreparedStatement<{
  readonly account: number | null
  readonly amount: number | null
  readonly balance: number | null
  readonly price: number | null
  readonly decided: boolean
}> = {
  name: 'refund-message',
  text: `
with send_of as materialized (
  select first_id, account_id, price
  from (
    select first_id, n, account_id, price
    from send
    where first_id <= $1::bigint and first_id >= $1::bigint / 10000 * 10000
    order by first_id desc
    limit 1
  ) latest
  where $1::bigint < first_id + n
), refunded as (
  update message set refunded = true
  where id = $1::bigint and not refunded and (carrier_id is not null or code = ${OUTCOME.unknown})
    and (select price from send_of) > 0
  returning account_id, send_first_id
), paid as (
  update account set balance = balance + send_of.price
  from refunded
  cross join send_of
  where account.id = refunded.account_id
  returning account.id, account.balance
), entry as (
  insert into ledger (account_id, kind, amount, send_first_id, at, why, message_id, operation)
  select account_id, ${LEDGER.refund}, (select price from send_of), send_first_id, $3::timestamptz, $2::text, $1::bigint, $4::uuid
  from refunded
)
select (select account_id from send_of) account, (select price from send_of where exists (select from refunded)) amount,
  (select balance from paid) balance, (select price from send_of) price,
  exists (select from message where id = $1::bigint) decided`,
}
