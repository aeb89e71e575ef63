import { firstAnswerSeconds } from '@gateway/core/client-requests'
import { receiptMatching, unknownSecondsMax, unreadReceiptBounds } from '@gateway/core/dispatch'
import { deduplicationSeconds, offerAgainDays } from '@gateway/core/inbox'
import { column, sql, statement } from './statement.ts'

/** Leases a block of 10,000 ids that no other process gets. Takes 0.5 ms, and 6 ms more when it makes a partition. */
export const leaseBlock = statement(
  'lease-block',
  { parameters: {}, columns: { lo: 'bigint', hi: 'bigint' } },
  sql`select lo, hi from lease_block()`,
)

/** Leases `count` ids, at most 10,000, of the block that short-lived processes share so that none uses up a block. */
export const leaseShared = statement(
  'lease-shared',
  { parameters: { count: 'int' }, columns: { lo: 'bigint', hi: 'bigint' } },
  sql`select lo, hi from lease_shared(:count)`,
)

/**
 * Skips `count` blocks, which then stay unused. Advances the sequence block by block, as a lease does. Setting the
 * sequence could move it back behind a block that was leased meanwhile. Runs on the ordinary connections. May be run
 * again, and then skips more blocks. Cost: 0.1 s for 100,000 blocks.
 */
export const skipBlocks = statement(
  'skip-blocks',
  { parameters: { count: 'int' }, columns: { count: 'bigint' } },
  sql`select count(nextval('id_block')) from generate_series(1, :count)`,
)

/** Ends the shared block, so that the next process that leases shared ids begins a new one. May be run again. */
export const giveUpSharedBlock = statement(
  'give-up-shared-block',
  { parameters: {} },
  sql`update id_share set next = 0, hi = 0, at = '-infinity'`,
)

/**
 * Does one step of dropping history older than `days`, continuing at the position `at`. For each number, the account
 * that wrote last stays recorded for `contactDays`. Runs on the ordinary connections. May be run again. Cost: 0.1 to
 * 0.3 s for a block of 10,000 ids.
 */
export const dropHistory = statement(
  'drop-history',
  {
    parameters: { at: 'bigint', days: 'int', contactDays: 'int' },
    columns: {
      state: column<'more' | 'all' | 'busy'>('text'),
      next: 'bigint',
      partitions: 'int',
      sends: 'bigint',
      messages: 'bigint',
    },
  },
  sql`
select v_state as state, v_next as next, v_partitions as partitions, v_sends as sends, v_messages as messages
from drop_history(:at, :days, :contactDays,
  ${deduplicationSeconds}, ${offerAgainDays}, ${receiptMatching.keptDays}, ${unreadReceiptBounds.days},
  ${unknownSecondsMax}, ${firstAnswerSeconds})`,
)
