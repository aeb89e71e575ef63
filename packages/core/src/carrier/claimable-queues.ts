import type { CarrierId } from './carrier-id.ts'
import { noRoute, type PublishedRoute, type QueueNumber, type RouteNumber } from './published-routes.ts'
import type { RouteCarrier } from './routes.ts'

/** Whether a carrier takes messages now. Throttled: it takes some, and said that it gets too much. */
export type Availability = 'available' | 'throttled' | 'down'

/** A queue from which a carrier claims now. */
export interface ClaimableQueue {
  readonly queue: QueueNumber
  readonly route: RouteNumber
  /** Those that share it by their weights, itself among them; none: it is nobody's but its own, or of no route. */
  readonly equals: readonly RouteCarrier[]
}

/**
 * The queues from which a carrier claims now, in the order of the routes. Of the carriers of a route those go first that are available, then
 * those that are throttled, each by priority; what one of them refused for now goes to the others as long as there are any. A carrier that is down
 * claims nothing.
 */
export function claimableQueues(
  routes: readonly PublishedRoute[],
  carrier: CarrierId,
  availabilityOf: (carrier: CarrierId) => Availability,
): readonly ClaimableQueue[] {
  if (availabilityOf(carrier) === 'down') return []
  if (routes.length === 0) return [{ queue: noRoute, route: noRoute, equals: [] }]
  return routes.flatMap(({ number: route, carriers, queues }) => {
    if (carriers.every((one) => one.carrier !== carrier)) return []
    return queues.flatMap(({ number: queue, refusedBy }): readonly ClaimableQueue[] => {
      const first = firstOf(carriers, refusedBy, availabilityOf)
      if (first.every((one) => one.carrier !== carrier)) return []
      return [{ queue, route, equals: first.length > 1 ? first : [] }]
    })
  })
}

function firstOf(
  carriers: readonly RouteCarrier[],
  refusedBy: CarrierId | undefined,
  availabilityOf: (carrier: CarrierId) => Availability,
): readonly RouteCarrier[] {
  const up = carriers.filter(({ carrier }) => availabilityOf(carrier) !== 'down')
  const others = orAll(up, ({ carrier }) => carrier !== refusedBy)
  const usable = orAll(others, ({ carrier }) => availabilityOf(carrier) === 'available')
  const best = Math.min(...usable.map(({ priority }) => priority))
  return usable.filter(({ priority }) => priority === best)
}

/** Those that are picked, or all if none is. */
function orAll<T>(all: readonly T[], picked: (one: T) => boolean): readonly T[] {
  const some = all.filter(picked)
  return some.length > 0 ? some : all
}

/** What becomes of a message of a queue that a carrier refused for now. */
export interface HandOver {
  /** Where it waits then; undefined: where it came from. */
  readonly queue: QueueNumber | undefined
  /** Whether another carrier takes it now. */
  readonly isTakenOver: boolean
}

export function handOver(
  routes: readonly PublishedRoute[],
  from: QueueNumber,
  refusedBy: CarrierId,
  availabilityOf: (carrier: CarrierId) => Availability,
): HandOver {
  const route = routes.find(({ queues }) => queues.some(({ number }) => number === from))
  const queue = route?.queues.find((one) => one.refusedBy === refusedBy)?.number
  const isOther = ({ carrier }: RouteCarrier) => carrier !== refusedBy && availabilityOf(carrier) !== 'down'
  return { queue, isTakenOver: queue !== undefined && route !== undefined && route.carriers.some(isOther) }
}
