import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import type { DroppedHistory } from './history.ts'
import type { MessageId } from './message-id.ts'

/**
 * Default number of days for which the gateway remembers which account wrote to a number last (ruling 1.18): two years.
 */
export const contactDaysDefault = 730

/**
 * Runs one bounded step that drops messages whose status is no longer reported, because they are older than 90 days
 * (spec 8; ruling 1.16).
 */
export const dropHistory =
  (ports: Pick<Ports, 'history'>, contactDays = contactDaysDefault) =>
  (): Promise<DroppedHistory> =>
    ports.history.drop(limits.statusDays, contactDays)

const blocksMax = 1_000_000

/**
 * Skips 1 to 1,000,000 blocks of 10,000 ids, so that after a restore no id issued since the backup is issued again.
 * Returns the first id that processes started afterwards may issue; a process that runs meanwhile may still hold older
 * ids. Throws a RangeError for any other number of blocks.
 */
export const skipIds =
  (ports: Pick<Ports, 'history'>) =>
  async (blocks: number): Promise<MessageId> => {
    if (Number.isInteger(blocks) && blocks >= 1 && blocks <= blocksMax) return ports.history.skipIds(blocks)
    throw new RangeError(`blocks must be an integer from 1 to ${blocksMax}, not ${blocks}`)
  }
