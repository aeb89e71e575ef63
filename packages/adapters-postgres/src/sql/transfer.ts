import type { TransferFailure } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * $1 from, $2 to, $3 amount, $4 when, $5 operation; of a request with a key, else null: $6 who asks, $7 key, $8 digest. What it does and
 * returns is said in the schema.
 */
export const transfer: PreparedStatement<{ result: 'done' | TransferFailure | 'repeated' | null }> = {
  name: 'transfer',
  text: 'select transfer_credits($1::int, $2::int, $3::bigint, $4::timestamptz, $5::uuid, $6::int, $7::uuid, $8::uuid) as result',
}
