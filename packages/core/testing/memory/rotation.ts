import type { AccountId } from '@gateway/core/accounts'
import type { Instant } from '@gateway/core/time'
import { sortedList, type SortedList } from './sorted-list.ts'
import type { Range } from './rows.ts'

/**
 * Waiting ranges. Accounts take turns, so that the backlog of one account never delays the first message of another.
 */
export interface Rotation {
  add(range: Range): void
  /**
   * Removes and returns the first range of the next account whose first range is `ripe`. That account then goes to the
   * end of the turns.
   */
  next(ripe?: (range: Range) => boolean): Range | undefined
  /** Removes the first range of the account if it is `ripe`. Does not change the turns. */
  nextOf(account: AccountId, ripe?: (range: Range) => boolean): Range | undefined
  /** Returns the earliest `at` of all ranges that are first in their account, or undefined if there are no ranges. */
  earliest(): Instant | undefined
  /** Returns all ranges of this account in order, without removing them. */
  allOf(account: AccountId): readonly Range[]
  isEmpty(): boolean
  /** Removes and returns the picked ranges, at most `rangesMax`. */
  takeAll(picked: (range: Range) => boolean, rangesMax: number): readonly Range[]
}

export function rotation(compare: (a: Range, b: Range) => number): Rotation {
  // A Map iterates in the order in which keys were set, which is the order of the turns.
  const byAccount = new Map<AccountId, SortedList<Range>>()

  const take = (account: AccountId, ranges: SortedList<Range>): Range | undefined => {
    const range = ranges.takeFirst()
    if (ranges.size === 0) byAccount.delete(account)
    return range
  }

  return {
    add: (range) => {
      const ranges = byAccount.get(range.send.account) ?? sortedList(compare)
      byAccount.set(range.send.account, ranges)
      ranges.add(range)
    },
    next: (ripe = () => true) => {
      for (const [account, ranges] of byAccount) {
        const first = ranges.first()
        if (first === undefined || !ripe(first)) continue
        byAccount.delete(account)
        byAccount.set(account, ranges)
        return take(account, ranges)
      }
      return undefined
    },
    nextOf: (account, ripe = () => true) => {
      const ranges = byAccount.get(account)
      const first = ranges?.first()
      return ranges !== undefined && first !== undefined && ripe(first) ? take(account, ranges) : undefined
    },
    earliest: () => {
      const firsts = [...byAccount.values()].flatMap((ranges) => ranges.first()?.at ?? [])
      return firsts.toSorted((a, b) => a - b)[0]
    },
    isEmpty: () => byAccount.size === 0,
    allOf: (account) => byAccount.get(account)?.all() ?? [],
    takeAll: (picked, rangesMax) => {
      const out: Range[] = []
      for (const [account, ranges] of byAccount) {
        out.push(...ranges.takeAll(picked, rangesMax - out.length))
        if (ranges.size === 0) byAccount.delete(account)
      }
      return out
    },
  }
}
