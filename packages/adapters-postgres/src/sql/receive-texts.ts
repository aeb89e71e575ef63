import type { PreparedStatement } from './prepared-statement.ts'

/** A confirmation that is to be sent. */
export interface ConfirmationRow {
  readonly account: number
  /** `sender.id` of the address that it leaves from. */
  readonly sender: number
  readonly address: string
  readonly number: number
}

/**
 * $1 carriers, $2 from, $3 numbers or null, $4 to or null, $5 texts, $6 opt keywords (0 none, 1 to opt out, 2 to opt in). What it does is said
 * in the schema; returns what is to be confirmed. In a transaction with what was noted, and with the confirmations.
 */
export const receiveTexts: PreparedStatement<ConfirmationRow> = {
  name: 'receive-texts',
  text: `
select o_account as account, o_sender as sender, o_address as address, o_number as number
from receive_inbound_messages($1::smallint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::smallint[])`,
}
