import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Takes $1 blocks that nobody will use. Block by block, as whoever leases one does: setting the sequence could move it back behind one
 * that was leased meanwhile. For the ordinary connections. May be run again: more is skipped then. 0.1 s for 100,000.
 */
export const skipBlocks: PreparedStatement<object> = {
  name: 'skip-blocks',
  text: `select count(nextval('id_block')) from generate_series(1, $1::int)`,
}

/** The next process that asks for ids of the shared block begins a new one. May be run again. */
export const giveUpSharedBlock: PreparedStatement<object> = {
  name: 'give-up-shared-block',
  text: `update id_share set next = 0, hi = 0, at = '-infinity'`,
}
