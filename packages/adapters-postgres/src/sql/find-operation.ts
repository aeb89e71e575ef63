import type { PreparedStatement } from './prepared-statement.ts'

/** A row if operation $2 has an entry in account $1. The latest entries are looked through, of all accounts the last ten million. */
export const findOperation: PreparedStatement<{ id: number }> = {
  name: 'find-operation',
  text: `
select id
from ledger
where account_id = $1::int and operation = $2::uuid and id > (select max(id) - 10000000 from ledger)
order by id desc
limit 1`,
}

/** What operation $2 gave back for message $1, with the balance that there is now. The latest ten million entries are looked through. */
export const findRefund: PreparedStatement<{ account: number; amount: number; balance: number }> = {
  name: 'find-refund',
  text: `
select ledger.account_id account, ledger.amount, account.balance
from ledger
join account on account.id = ledger.account_id
where message_id = $1::bigint and operation = $2::uuid and ledger.id > (select max(id) - 10000000 from ledger)`,
}
