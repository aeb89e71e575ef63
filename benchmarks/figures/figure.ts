import { spreadOf } from './spread.ts'

/** What a figure should reach. */
export interface Goal {
  /** Its row in the table of goals, 1 to 11; 'scale': one that stands beside the table. */
  readonly row: number | 'scale'
  readonly is: 'at least' | 'at most'
  readonly value: number
}

/** Something that was measured in each round. */
export interface Figure {
  /** Tells it apart from the others of its benchmark, and finds it again in another run. */
  readonly name: string
  /** Empty for a ratio. */
  readonly unit: string
  readonly rounds: readonly number[]
  /** Which direction is an improvement; undefined: it only describes. */
  readonly better?: 'more' | 'less'
  readonly goal?: Goal
}

export type Verdict = 'met' | 'missed within the spread' | 'missed'

/** The median decides; a miss that the best round would have met is within the spread. */
export function verdictOf({ is, value }: Goal, rounds: readonly number[]): Verdict {
  const { median, min, max } = spreadOf(rounds)
  const meets = (figure: number): boolean => (is === 'at least' ? figure >= value : figure <= value)
  if (meets(median)) return 'met'
  return meets(is === 'at least' ? max : min) ? 'missed within the spread' : 'missed'
}
