import type { PreparedStatement } from './prepared-statement.ts'

/** Which of the digests $1 operation $2 has noted: its answer was lost. */
export const findNoted: PreparedStatement<{ key: string }> = {
  name: 'find-noted',
  text: 'select key from inbound_message_seen where key = any ($1::uuid[]) and operation = $2::uuid',
}
