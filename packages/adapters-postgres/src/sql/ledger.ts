import { balanceMax } from '@gateway/core'
import { LEDGER } from '../credits/ledger-kind.ts'
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
with l as (
  select account_id, sum(amount) total from ledger group by 1
), s as (
  select account_id, sum(n::bigint * price) total from send group by 1
), x as materialized (
  select a.id, a.balance, (coalesce(l.total, 0) - coalesce(s.total, 0))::bigint entries
  from account a left join l on l.account_id = a.id left join s on s.account_id = a.id
)
select t.accounts, t.balances, d.id, d.balance, d.entries
from (select count(*) accounts, coalesce(sum(balance), 0)::bigint balances from x) t
left join (select * from x where balance <> entries) d on true
order by d.id`,
}

/** $1 account $2 amount $3 why $4 when: tops it up and returns the new balance. No row: no such account, or out of range (`balanceAfter`). */
export const enterCredits: PreparedStatement<{ balance: number }> = {
  name: 'enter-credits',
  text: `
with u as (
  update account set balance = balance + $2::bigint
  where id = $1::int and balance + $2::numeric between 0 and ${balanceMax}
  returning id, balance
), l as (
  insert into ledger (account_id, kind, amount, at, why) select id, ${LEDGER.topUp}, $2::bigint, $4::timestamptz, $3::text from u
)
select balance from u`,
}
