import type { PreparedStatement } from './prepared-statement.ts'

/** Unknown messages get the references of kept receipts at least $1 seconds old. May be run again. */
export const adoptReceipts: PreparedStatement<{ adopted: number }> = {
  name: 'adopt-receipts',
  text: 'select adopt_delivery_receipts($1::float8) as adopted',
}
