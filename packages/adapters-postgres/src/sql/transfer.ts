import type { TransferFailure } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'

/** $1 from, $2 to, $3 amount, $4 when, $5 operation. What it does and returns is said in the schema. */
export const transfer: PreparedStatement<{ result: 'done' | TransferFailure | null }> = {
  name: 'transfer',
  text: 'select transfer_credits($1::int, $2::int, $3::bigint, $4::timestamptz, $5::uuid) as result',
}
