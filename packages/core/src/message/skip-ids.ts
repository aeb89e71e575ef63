import type { Ports } from '../ports.ts'
import type { MessageId } from './message-id.ts'

const blocksMax = 1_000_000

/**
 * Leaves out so many blocks of 10,000 ids, 1 to 1,000,000 of them, so that after a restore no id that was given out since the
 * backup is given to another message. Returns the id from which every process goes on that starts after it; one that runs
 * meanwhile may still hold older ids. Throws a RangeError for any other number of blocks.
 */
export const skipIds =
  (ports: Pick<Ports, 'history'>) =>
  async (blocks: number): Promise<MessageId> => {
    if (Number.isInteger(blocks) && blocks >= 1 && blocks <= blocksMax) return ports.history.skipIds(blocks)
    throw new RangeError(`not a number of blocks from 1 to ${blocksMax}: ${blocks}`)
  }
