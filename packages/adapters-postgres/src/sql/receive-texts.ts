import type { PreparedStatement } from './prepared-statement.ts'
import { wakeIdle } from './idle-dispatchers.ts'

/**
 * $1 carriers, $2 from, $3 numbers or null, $4 to or null, $5 texts, $6 opt keywords (0 none, 1 to opt out, 2 to opt in), $7 message ids for
 * confirmations, $8 text and $9 parts of these. What it does and returns is said in the schema. In a transaction with what was noted.
 */
export const receiveTexts: PreparedStatement<{ used: number }> = {
  name: 'receive-texts',
  text: `
select used, case when used > 0 then ${wakeIdle} end as woken
from receive_inbound_messages($1::smallint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::bigint[], $8::text, $9::smallint) as used`,
}
