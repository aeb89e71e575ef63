import { firstAnswerSeconds } from '@gateway/core/client-requests'
import { receiptMatching, unknownSecondsMax, unreadReceiptBounds } from '@gateway/core/dispatch'
import { deduplicationSeconds, offerAgainDays } from '@gateway/core/inbox'
import { rows, sql, statement } from './statement.ts'

/** A block of 10,000 ids that nobody else has. 0.5 ms, once per block; 6 ms more where it makes a new partition. */
export const leaseBlock = statement(
  'lease-block',
  { parameters: {}, columns: { lo: 'bigint', hi: 'bigint' } },
  sql`select lo, hi from lease_block()`,
)

/** So many ids, at most 10,000, of the block that short-lived processes share: they do not use up a block each. */
export const leaseShared = statement(
  'lease-shared',
  { parameters: { count: 'int' }, columns: { lo: 'bigint', hi: 'bigint' } },
  sql`select lo, hi from lease_shared(:count)`,
)

/**
 * Takes `count` blocks that nobody will use. Block by block, as whoever leases one does: setting the sequence could
 * move it back behind one that was leased meanwhile. For the ordinary connections. May be run again: more is skipped
 * then. 0.1 s for 100,000.
 */
export const skipBlocks = statement(
  'skip-blocks',
  { parameters: { count: 'int' }, columns: { count: 'bigint' } },
  sql`select count(nextval('id_block')) from generate_series(1, :count)`,
)

/** The next process that asks for ids of the shared block begins a new one. May be run again. */
export const giveUpSharedBlock = statement(
  'give-up-shared-block',
  { parameters: {} },
  sql`update id_share set next = 0, hi = 0, at = '-infinity'`,
)

interface DropStep {
  readonly state: 'more' | 'all' | 'busy'
  readonly next: number
  readonly partitions: number
  readonly sends: number
  readonly messages: number
}

/**
 * One step of dropping what is older than `days`, in the walk that is at `at`; for `contactDays` is remembered who
 * wrote last to a number. For the ordinary connections. May be run again. 0.1 to 0.3 s for a block of 10,000 ids.
 */
export const dropHistory = statement(
  'drop-history',
  {
    parameters: { at: 'bigint', days: 'int', contactDays: 'int' },
    columns: rows<DropStep>({ state: 'text', next: 'bigint', partitions: 'int', sends: 'bigint', messages: 'bigint' }),
  },
  sql`
select v_state as state, v_next as next, v_partitions as partitions, v_sends as sends, v_messages as messages
from drop_history(:at, :days, :contactDays,
  ${deduplicationSeconds}, ${offerAgainDays}, ${receiptMatching.keptDays}, ${unreadReceiptBounds.days},
  ${unknownSecondsMax}, ${firstAnswerSeconds})`,
)
