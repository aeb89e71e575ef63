import { balanceMax } from '@gateway/core'
import { LEDGER } from '../stored-codes.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Every balance beside what its entries add up to, all as of one moment. Always at least one row; `id` null: no difference.
 * The sends are debits as much as the rows of the ledger. For the ordinary connections: it reads both tables once.
 */
export const checkLedger: PreparedStatement<{
  accounts: number
  balances: number
  id: number | null
  balance: number
  entries: number
}> = {
  name: 'check-ledger',
  text: `
with ledger_sums as (
  select account_id, sum(amount) total
  from ledger
  group by account_id
), send_sums as (
  select account_id, sum(n::bigint * price) total
  from send
  group by account_id
), checked as materialized (
  select account.id, account.balance, (coalesce(ledger_sums.total, 0) - coalesce(send_sums.total, 0))::bigint entries
  from account
  left join ledger_sums on ledger_sums.account_id = account.id
  left join send_sums on send_sums.account_id = account.id
), totals as (
  select count(*) accounts, coalesce(sum(balance), 0)::bigint balances
  from checked
)
select totals.accounts, totals.balances, checked.id, checked.balance, checked.entries
from totals
left join checked on checked.balance <> checked.entries
order by checked.id`,
}

/** $1 account $2 amount $3 why $4 when: tops it up and returns the new balance. No row: no such account, or out of range (`balanceAfter`). */
export const enterCredits: PreparedStatement<{ balance: number }> = {
  name: 'enter-credits',
  text: `
with topped_up as (
  update account set balance = balance + $2::bigint
  where id = $1::int and balance + $2::numeric between 0 and ${balanceMax}
  returning id, balance
), entry as (
  insert into ledger (account_id, kind, amount, at, why)
  select id, ${LEDGER.topUp}, $2::bigint, $4::timestamptz, $3::text
  from topped_up
)
select balance from topped_up`,
}
