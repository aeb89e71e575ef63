import { messageId, type DroppedHistory, type History, type MessageId } from '@gateway/core/messages'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import type { Context } from '../context.ts'
import { sqlState } from '../errors.ts'
import { dropHistory, giveUpSharedBlock, leaseBlock, skipBlocks } from '../sql/ids.ts'

/** Somebody reads what is to be dropped, or changes it. */
const lockTaken = '55P03'
const fromStart = -1
/** What one statement skips stays short. */
const blocksOfStatement = 100_000

/** Drops what is old and leaves out ids. Partitions that filled up fast go as a whole, all else by blocks of ids. */
export function postgresHistory({ pools: { ordinary } }: Context): History {
  let at = fromStart

  async function drop(days: number, contactDays: number): Promise<DroppedHistory> {
    try {
      const [row] = await retryOnConnectionLoss(ordinary, dropHistory, { at, days, contactDays })
      if (row === undefined) throw new Error('dropping history told nothing')
      at = row.next
      return { partitions: row.partitions, sends: row.sends, messages: row.messages, left: row.state }
    } catch (error) {
      at = fromStart
      if (sqlState(error) === lockTaken) return { partitions: 0, sends: 0, messages: 0, left: 'busy' }
      throw error
    }
  }

  /** The last block is leased, which makes the partitions for what comes next; nothing is ever stored under its ids. */
  async function skipIds(blocks: number): Promise<MessageId> {
    for (let left = blocks - 1; left > 0; left -= blocksOfStatement) {
      await retryOnConnectionLoss(ordinary, skipBlocks, { count: Math.min(left, blocksOfStatement) })
    }
    await retryOnConnectionLoss(ordinary, giveUpSharedBlock, {})
    const [leased] = await retryOnConnectionLoss(ordinary, leaseBlock, {})
    const next = leased && messageId(leased.hi)
    if (next === undefined) throw new Error('there are no ids that could be skipped to')
    return next
  }

  return { drop, skipIds }
}
