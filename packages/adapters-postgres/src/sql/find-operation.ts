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
