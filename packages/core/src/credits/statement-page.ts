import type { Credits } from './credits.ts'
import type { Cause, Movement } from './movement.ts'

/** Name of a sum of a statement. `taken`: credits that the operator took back. `moved`: credits moved by transfers. */
export type StatementSum = 'added' | 'taken' | 'moved' | 'charged' | 'returned'

/** Returns the sum in which a movement counts. Each movement counts in exactly one. */
export function statementSum({ kind }: Pick<Cause, 'kind'>, amount: Credits): StatementSum {
  switch (kind) {
    case 'top-up':
      return amount > 0 ? 'added' : 'taken'
    case 'transfer':
      return 'moved'
    case 'send':
    case 'dropped-sends':
      return 'charged'
    case 'refund':
    case 'refund-by-hand':
      return 'returned'
  }
}

/** Lines of a statement to return: at most `limit`, after the first `offset`. */
export interface StatementPlace {
  readonly offset: number
  readonly limit: number
}

/** Some lines of the statement of a period, with the figures of the whole period. */
export interface StatementPage {
  readonly lines: readonly Movement[]
  /** Number of lines of the period. */
  readonly total: number
  readonly sums: Readonly<Record<StatementSum, Credits>>
  /** Balance before the first movement of the period. */
  readonly begins: Credits
  /** Balance after the last movement of the period. */
  readonly ends: Credits
}
