import type { MessageId } from './messages.ts'

/** What one step dropped. Counts may be too low after a lost answer of the store. */
export interface DroppedHistory {
  /** Parts of the store that were dropped as a whole; what was in them is counted too. */
  readonly partitions: number
  readonly sends: number
  readonly messages: number
  /**
   * More: call again at once. All: nothing that is old enough is left. Busy: another process drops history at this
   * moment, or somebody has been reading it for long; try again later.
   */
  readonly left: 'more' | 'all' | 'busy'
}

/** Sends that were due so long ago that nobody is told of them any more, and ids that nobody may be given again. */
export interface History {
  /**
   * Drops some of the sends that are older than `days` by the store's clock, with all their messages and all that was
   * noted of these (`isDropped`). Bounded; to be repeated while there is more. A send goes only as a whole: never while
   * one of its messages waits, or may yet be recorded. No other number, balance or status changes by it: what the
   * dropped sends cost is entered into the ledger in the same step. Any number of processes may call it at once.
   *
   * Who wrote last to each number from each address is remembered before, for `contactDays` (ruling 1.18). What was
   * received that long ago is dropped too; opt-outs stay. So are first answers to client requests that no longer count
   * (`isKept`), sends in bulk that old, and drafts of them that are older than a day (`bulkSendLimits`).
   */
  drop(days: number, contactDays: number): Promise<DroppedHistory>

  /**
   * Leaves out so many blocks of 10,000 ids; a whole number from 1 to 1,000,000. No id below the one that it returns is
   * ever given out again by a process that starts after it. One that runs meanwhile may still give out ids that it took
   * before. After a lost answer more blocks may be left out. Any number of processes may call it at once.
   */
  skipIds(blocks: number): Promise<MessageId>
}
