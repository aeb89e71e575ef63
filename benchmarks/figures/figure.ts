import { spreadOf } from './spread.ts'

/** Goal of a figure. */
export interface Goal {
  /** Row in the table of goals, 1 to 11, or 'scale' for a goal outside the table. */
  readonly row: number | 'scale'
  readonly is: 'at least' | 'at most'
  readonly value: number
}

/** Quantity that was measured in each round. */
export interface Figure {
  /** Unique name within the benchmark, by which runs are compared. */
  readonly name: string
  /** Unit of the figure; empty for a ratio. */
  readonly unit: string
  readonly rounds: readonly number[]
  /** Direction of an improvement. Undefined for a figure that only describes. */
  readonly better?: 'more' | 'less'
  readonly goal?: Goal
}

export type Verdict = 'met' | 'missed within the spread' | 'missed'

/** Returns the verdict, which the median decides. A miss is within the spread if the best round meets the goal. */
export function verdictOf({ is, value }: Goal, rounds: readonly number[]): Verdict {
  const { median, min, max } = spreadOf(rounds)
  const meets = (figure: number): boolean => (is === 'at least' ? figure >= value : figure <= value)
  if (meets(median)) return 'met'
  return meets(is === 'at least' ? max : min) ? 'missed within the spread' : 'missed'
}
