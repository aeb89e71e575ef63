import type { CarrierId } from '../dispatch/carrier-id.ts'
import { isConnected } from '../dispatch/carrier-status.ts'
import type { ToldCarrier } from '../fleet/carrier-statuses.ts'
import type { MessageTrace } from './message-traces.ts'

/**
 * Why a message has not been claimed, by what processes tell of their carriers; nothing is decided by it. Not due: it
 * is scheduled. In doubt: a lost database server may have had it submitted, and an operator is to decide. Refused for
 * now: it waits for another try. No dispatcher: no process that dispatches has been heard of lately. Route withdrawn:
 * its route is not published any more; it is moved to another one soon. No carrier: no process has a carrier of its
 * route. Held: an operator has paused or drained them all. Not bound, circuit open, throttled, window full: so are all
 * carriers that may take it. In turn: a carrier can take it, and others are before it.
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
  /** Those that may take it, as far as they are known. */
  readonly carriers: readonly CarrierId[]
}

/** Undefined: it does not wait, or a dispatcher has it. */
export function whyWaiting(
  { place, route }: Pick<MessageTrace, 'place' | 'route'>,
  told: readonly ToldCarrier[],
): Waiting | undefined {
  if (place.place === 'scheduled') return { reason: 'not-due', carriers: [] }
  if (place.place === 'in-doubt') return { reason: 'in-doubt', carriers: [] }
  if (place.place === 'postponed') return { reason: 'refused-for-now', carriers: [] }
  if (place.place !== 'queue') return undefined
  const heardOf = told.filter(({ isStale }) => !isStale)
  const wanted = route?.carriers.map(({ carrier }) => carrier)
  const able = heardOf.filter(({ carrier }) => wanted === undefined || wanted.includes(carrier))
  const carriers = wanted ?? [...new Set(able.map(({ carrier }) => carrier))]
  return { reason: reasonOf(route !== undefined && route.place === undefined, heardOf, able), carriers }
}

function reasonOf(isWithdrawn: boolean, heardOf: readonly ToldCarrier[], able: readonly ToldCarrier[]): WaitingReason {
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
