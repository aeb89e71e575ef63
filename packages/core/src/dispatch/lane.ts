import type { Credits } from '../credits/credits.ts'
import type { Lane } from './claimed-batches.ts'
import type { RouteNumber } from '../routes/published-routes.ts'

/** Maximum number of recipients of a text in the single lane, where it never waits behind larger ones (P-13). */
const singleLaneMax = 10

/**
 * Returns the lane of a text that was accepted for this many numbers. The lane applies to all its messages and never
 * changes.
 */
export const laneOf = (messages: number): Lane => (messages <= singleLaneMax ? 'single' : 'bulk')

interface Neighbour {
  readonly cost: Credits
  /** Sender address, or the store's key of it. */
  readonly from: string | number
  readonly route: RouteNumber
}

/**
 * Returns true if neighbouring messages of one text belong to one send, which is charged, refunded and traced as a
 * whole.
 */
export const isSameSend = (a: Neighbour, b: Neighbour): boolean =>
  a.cost === b.cost && a.from === b.from && a.route === b.route
