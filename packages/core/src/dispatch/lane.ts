import type { Credits } from '../credits/credits.ts'
import type { Lane } from './claimed-batches.ts'
import type { RouteNumber } from '../routes/published-routes.ts'

/** Texts to so many numbers and fewer never wait behind larger ones (P-13). */
const singleLaneMax = 10

/** The lane of a text that was accepted for so many numbers: of all its messages, for all their life. */
export const laneOf = (messages: number): Lane => (messages <= singleLaneMax ? 'single' : 'bulk')

interface Neighbour {
  readonly cost: Credits
  /** The address that it leaves from, or the store's name of it. */
  readonly from: string | number
  readonly route: RouteNumber
}

/** Whether neighbours of one text are one send, which is charged, refunded and traced as a whole. */
export const isSameSend = (a: Neighbour, b: Neighbour): boolean =>
  a.cost === b.cost && a.from === b.from && a.route === b.route
