import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import type { DroppedHistory } from './history.ts'
import type { MessageId } from './messages.ts'

/**
 * For so long it is remembered who wrote last to a number, unless the operator sets another time (ruling 1.18): two
 * years.
 */
export const contactDaysDefault = 730

/**
 * One bounded step of dropping what no status is given for any more: what is older than 90 days (spec 8; ruling 1.16).
 */
export const dropHistory =
  (ports: Pick<Ports, 'history'>, contactDays = contactDaysDefault) =>
  (): Promise<DroppedHistory> =>
    ports.history.drop(limits.statusDays, contactDays)

const blocksMax = 1_000_000

/**
 * Leaves out so many blocks of 10,000 ids, 1 to 1,000,000 of them, so that after a restore no id that was given out
 * since the backup is given to another message. Returns the id from which every process goes on that starts after it;
 * one that runs meanwhile may still hold older ids. Throws a RangeError for any other number of blocks.
 */
export const skipIds =
  (ports: Pick<Ports, 'history'>) =>
  async (blocks: number): Promise<MessageId> => {
    if (Number.isInteger(blocks) && blocks >= 1 && blocks <= blocksMax) return ports.history.skipIds(blocks)
    throw new RangeError(`not a number of blocks from 1 to ${blocksMax}: ${blocks}`)
  }
