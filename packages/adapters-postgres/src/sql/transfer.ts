import { LEDGER } from '../credits/ledger-kind.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Moves amount $3 from account $1 to account $2, as operation $5 at $4. In a transaction that has locked both accounts and decided
 * that it moves.
 */
export const transfer: PreparedStatement<object> = {
  name: 'transfer',
  text: `
with moved (account_id, amount, other_account_id) as (
  values ($1::int, -$3::bigint, $2::int), ($2::int, $3::bigint, $1::int)
), balances as (
  update account set balance = balance + amount
  from moved
  where account.id = any (array[moved.account_id])
)
insert into ledger (account_id, kind, amount, at, other_account_id, operation)
select account_id, ${LEDGER.transfer}, amount, $4::timestamptz, other_account_id, $5::uuid
from moved`,
}
