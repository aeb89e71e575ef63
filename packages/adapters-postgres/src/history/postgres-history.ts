import { messageId, type DroppedHistory, type History, type MessageId } from '@gateway/core/messages'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import type { Context } from '../context.ts'
import { sqlState } from '../errors.ts'
import { dropHeld } from '../sql/held-sends.ts'
import { dropParts } from '../sql/smpp-parts.ts'
import { dropHistory, giveUpSharedBlock, leaseBlock, skipBlocks } from '../sql/ids.ts'

/** SQLSTATE if another transaction reads or changes a partition that is to be dropped. */
const lockTaken = '55P03'
/** Maximum number of parts of SMPP texts that one step drops. */
const partsMax = 10_000
const fromStart = -1
/** Maximum number of blocks that one statement skips, so that it stays short. */
const blocksOfStatement = 100_000

/**
 * Drops old history and skips ids. Drops a whole partition if all of it is old, otherwise blocks of ids.
 */
export function postgresHistory({ pools: { ordinary } }: Context): History {
  let at = fromStart

  async function drop(days: number, contactDays: number): Promise<DroppedHistory> {
    try {
      const [row] = await retryOnConnectionLoss(ordinary, dropHistory, { at, days, contactDays })
      if (row === undefined) throw new Error('dropping history returned no row')
      at = row.next
      await retryOnConnectionLoss(ordinary, dropHeld, {})
      await retryOnConnectionLoss(ordinary, dropParts, { days, rowsMax: partsMax })
      return { partitions: row.partitions, sends: row.sends, messages: row.messages, progress: row.state }
    } catch (error) {
      at = fromStart
      if (sqlState(error) === lockTaken) return { partitions: 0, sends: 0, messages: 0, progress: 'busy' }
      throw error
    }
  }

  /**
   * Skips blocks of ids. Leases the last block, which creates the partitions for the following ones; no message ever
   * gets its ids.
   */
  async function skipIds(blocks: number): Promise<MessageId> {
    for (let rest = blocks - 1; rest > 0; rest -= blocksOfStatement) {
      await retryOnConnectionLoss(ordinary, skipBlocks, { count: Math.min(rest, blocksOfStatement) })
    }
    await retryOnConnectionLoss(ordinary, giveUpSharedBlock, {})
    const [leased] = await retryOnConnectionLoss(ordinary, leaseBlock, {})
    const next = leased && messageId(leased.hi)
    if (next === undefined) throw new Error('cannot skip ids: no valid id would remain after the skipped ones')
    return next
  }

  return { drop, skipIds }
}
