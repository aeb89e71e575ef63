import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Unknown messages get the references of kept receipts at least $1 seconds old; $2 to $5 are the times of `adoptionWindow` in their order and
 * `receiptMatching.referenceDays`. May be run again.
 */
export const adoptReceipts: PreparedStatement<{ adopted: number }> = {
  name: 'adopt-receipts',
  text: 'select adopt_delivery_receipts($1::float8, $2::float8, $3::float8, $4::float8, $5::int) as adopted',
}
