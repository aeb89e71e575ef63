import type { MessageId } from './messages.ts'

/** Result of one `drop` step. Counts may be too low if an answer of the store was lost. */
export interface DroppedHistory {
  /** Partitions of the store that were dropped as a whole. Their rows are counted too. */
  readonly partitions: number
  readonly sends: number
  readonly messages: number
  /**
   * `more`: call again at once. `all`: nothing old enough remains. `busy`: another process drops history, or a reader
   * has held it for a long time; try again later.
   */
  readonly left: 'more' | 'all' | 'busy'
}

/** Deletion of old sends, and ids that must not be issued again. */
export interface History {
  /**
   * Drops some of the sends that are older than `days` by the store's clock, with their messages and all records of
   * these (`isDropped`). The step is bounded; repeat it while the result is `more`. A send is dropped only as a whole:
   * never while one of its messages waits or may yet be recorded. No count, balance or status of other sends changes:
   * the cost of the dropped sends is entered into the ledger in the same step. Any number of processes may call it
   * concurrently.
   *
   * Before a send is dropped, the latest writer to each number from each address is remembered for `contactDays`
   * (ruling 1.18). Inbound messages of that age are dropped too; opt-outs stay. So are expired first answers to client
   * requests (`isKept`), bulk sends of that age, and drafts of bulk sends older than a day (`bulkSendLimits`).
   */
  drop(days: number, contactDays: number): Promise<DroppedHistory>

  /**
   * Skips blocks of 10,000 ids; `blocks` is an integer from 1 to 1,000,000. Processes that start afterwards never issue
   * an id below the returned one. A process that runs meanwhile may still issue ids that it reserved before. If an
   * answer of the store is lost, more blocks may be skipped. Any number of processes may call it concurrently.
   */
  skipIds(blocks: number): Promise<MessageId>
}
