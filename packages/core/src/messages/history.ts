import type { MessageId } from './message-id.ts'

/** Result of one `drop` step. Counts may be too low if an answer of the store was lost. */
export interface DroppedHistory {
  /**
   * Number of partitions of the store that were dropped as a whole. The sends and messages in them are counted below,
   * too.
   */
  readonly partitions: number
  readonly sends: number
  readonly messages: number
  /**
   * `more`: call again at once. `all`: nothing old enough remains. `busy`: another process drops history, or a reader
   * has held it for a long time; try again later.
   */
  readonly progress: 'more' | 'all' | 'busy'
}

/** Deletion of old sends, and ids that must not be issued again. */
export interface History {
  /**
   * Drops some of the sends that are older than `days` by the store's clock, with their messages and all records of
   * these messages (`isDropped`). The step is bounded; repeat it while the result is `more`. A send is dropped only as
   * a whole, and never while one of its messages waits or may still be recorded. No count, balance or status of other
   * sends changes, because the cost of the dropped sends is entered into the ledger in the same step. Any number of
   * processes may call it concurrently.
   *
   * Before a send is dropped, the store records for `contactDays` which account wrote to each number last from each
   * address (ruling 1.18). The step also drops inbound messages and bulk sends older than `days`, expired first answers
   * to client requests (`isKept`), and drafts of bulk sends older than a day (`bulkSendLimits`). Opt-outs stay.
   */
  drop(days: number, contactDays: number): Promise<DroppedHistory>

  /**
   * Skips blocks of 10,000 ids; `blocks` is an integer from 1 to 1,000,000. Processes that start afterwards never issue
   * an id below the returned one. A process that runs meanwhile may still issue ids that it reserved before. If an
   * answer of the store is lost, more blocks may be skipped. Any number of processes may call it concurrently.
   */
  skipIds(blocks: number): Promise<MessageId>
}
