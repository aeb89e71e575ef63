import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Keeps receipts whose message is not known: $1 references, $2 codes, $3 carrier, $4 numbers, $5 milliseconds of
 * submission. Kept twice, they say the same twice.
 */
export const keepReceipts: PreparedStatement<object> = {
  name: 'keep-receipts',
  text: `
insert into unmatched_delivery_receipt (carrier, carrier_id, code, msisdn, submitted_at)
select $3::smallint, reference, code, msisdn, to_timestamp(submitted / 1000.0)
from unnest($1::text[], $2::smallint[], $4::bigint[], $5::bigint[]) receipt(reference, code, msisdn, submitted)`,
}
