import type { CarrierId } from '../dispatch/carrier-id.ts'
import { isConnected } from '../dispatch/carrier-status.ts'
import type { ReportedCarrier } from '../fleet/carrier-reports.ts'
import type { MessageTrace } from './message-trace.ts'

/**
 * Reason why a message has not been claimed, derived from the reports of processes about their carriers. For
 * information only.
 *
 * - `not-due`: the message is scheduled.
 * - `in-doubt`: a database server was lost, the message may have been submitted, and an operator must decide.
 * - `refused-for-now`: the message waits for another try.
 * - `no-dispatcher`: no dispatching process has reported lately.
 * - `route-withdrawn`: its route is no longer published; the message will be moved to another route.
 * - `no-carrier`: no process has a carrier of its route.
 * - `held`: an operator has paused or drained all carriers of its route.
 * - `not-bound`, `circuit-open`, `throttled`, `window-full`: the state of all carriers that may send it.
 * - `in-turn`: a carrier can send the message, but other messages are before it.
 */
export type WaitingReason =
  | 'not-due'
  | 'in-doubt'
  | 'refused-for-now'
  | 'no-dispatcher'
  | 'route-withdrawn'
  | 'no-carrier'
  | 'held'
  | 'not-bound'
  | 'circuit-open'
  | 'throttled'
  | 'window-full'
  | 'in-turn'

export interface Waiting {
  readonly reason: WaitingReason
  /** Known carriers that may send the message. */
  readonly carriers: readonly CarrierId[]
}

/** Returns undefined if the message does not wait or a dispatcher has claimed it. */
export function whyWaiting(
  { place, route }: Pick<MessageTrace, 'place' | 'route'>,
  reports: readonly ReportedCarrier[],
): Waiting | undefined {
  if (place.place === 'scheduled') return { reason: 'not-due', carriers: [] }
  if (place.place === 'in-doubt') return { reason: 'in-doubt', carriers: [] }
  if (place.place === 'postponed') return { reason: 'refused-for-now', carriers: [] }
  if (place.place !== 'queue') return undefined
  const heardOf = reports.filter(({ isStale }) => !isStale)
  const ofRoute = route?.carriers.map(({ carrier }) => carrier)
  const able = heardOf.filter(({ carrier }) => ofRoute === undefined || ofRoute.includes(carrier))
  const carriers = ofRoute ?? [...new Set(able.map(({ carrier }) => carrier))]
  return { reason: reasonOf(route !== undefined && route.place === undefined, heardOf, able), carriers }
}

function reasonOf(
  isWithdrawn: boolean,
  heardOf: readonly ReportedCarrier[],
  able: readonly ReportedCarrier[],
): WaitingReason {
  if (heardOf.length === 0) return 'no-dispatcher'
  if (isWithdrawn) return 'route-withdrawn'
  if (able.length === 0) return 'no-carrier'
  const running = able.filter(({ mode }) => mode === 'running')
  if (running.length === 0) return 'held'
  const bound = running.filter(({ status }) => status === undefined || isConnected(status))
  if (bound.length === 0) return 'not-bound'
  const working = bound.filter(({ status }) => (status?.circuit?.state ?? 'closed') === 'closed')
  if (working.length === 0) return 'circuit-open'
  if (working.every(({ status }) => status?.isThrottled === true)) return 'throttled'
  return working.every(({ unanswered, window }) => unanswered >= window) ? 'window-full' : 'in-turn'
}
