import { deduplicationSeconds, firstAnswerSeconds, offerAgainDays, receiptMatching } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * One step of dropping what is older than $2 days, in the walk that is at $1; $3 days for which is remembered who wrote last to a
 * number. For the ordinary connections. May be run again. 0.1 to 0.3 s for a block of 10,000 ids.
 */
export const dropHistory: PreparedStatement<{
  state: 'more' | 'all' | 'busy'
  next: number
  partitions: number
  sends: number
  messages: number
}> = {
  name: 'drop-history',
  text: `
select v_state as state, v_next as next, v_partitions as partitions, v_sends as sends, v_messages as messages
from drop_history($1::bigint, $2::int, $3::int, ${deduplicationSeconds}, ${offerAgainDays}, ${receiptMatching.keptDays}, ${firstAnswerSeconds})`,
}
