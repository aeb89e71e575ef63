/**
 * What both claims return: one row for each range that was claimed, or one whose `lo` is null: nothing was. A claim whose
 * answer was lost is never run again: the batch is disowned.
 */
export type ClaimRow = ClaimedRange | NothingClaimed

export interface NothingClaimed {
  /** Where the next walk over the accounts begins; null: nobody waits in the lane. */
  readonly cursor: number | null
  /** Whether the dispatcher still has its row. */
  readonly alive: boolean
  readonly lo: null
}

export interface ClaimedRange {
  readonly cursor: number | null
  readonly alive: boolean
  readonly lo: number
  readonly send: number
  readonly account: number
  readonly attempt: number
  readonly due: number
  /** The number of the address; 0: none known. */
  readonly sender: number
  readonly confirmsOptOut: boolean
  readonly body: string
  readonly parts: number
  /** Of the ids from `lo` on: digits, divided by commas. */
  readonly numbers: string
  readonly locked: boolean
  /** `place:kind` divided by commas, places counted from 1; null: none. */
  readonly suppressed: string | null
}
