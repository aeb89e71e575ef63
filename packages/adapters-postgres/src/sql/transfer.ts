import type { PreparedStatement } from './prepared-statement.ts'

/** $1 from, $2 to, $3 amount, $4 when, $5 operation. What it does and returns is said in the schema. */
export const transfer: PreparedStatement<{ result: string | null }> = {
  name: 'transfer',
  text: 'select transfer_credits($1::int, $2::int, $3::bigint, $4::timestamptz, $5::uuid) as result',
}

/** A row if operation $2 has an entry in account $1. The latest entries are looked through, of all accounts the last ten million. */
export const findOperation: PreparedStatement<{ id: number }> = {
  name: 'find-operation',
  text: `
select id from ledger where account_id = $1::int and operation = $2::uuid and id > (select max(id) - 10000000 from ledger)
order by id desc limit 1`,
}
