import type { CarrierId } from './carrier-id.ts'
import type { Availability } from './carrier.ts'
import type { Lane } from './claimed-batches.ts'
import {
  noRoute,
  type PublishedRoute,
  type QueueNumber,
  type RouteNumber,
  type RouteQueue,
} from '../routes/published-routes.ts'
import { overflowOf, type RouteCarrier } from '../routes/routes.ts'

/** A queue from which a carrier may claim now. */
export interface ClaimableQueue {
  readonly queue: QueueNumber
  readonly route: RouteNumber
  /** True for a queue of messages that no carrier of the route has temporarily refused. Probes prefer such queues. */
  readonly isFresh: boolean
  /**
   * Carriers that claim from the queue, including this one; empty if no other carrier does. Carriers of equal priority
   * share the queue by weight; carriers of a better priority come first as long as they have room.
   */
  readonly claimers: readonly RouteCarrier[]
  /**
   * Seconds after its due time from which a message overflows to this carrier, because all available carriers of a
   * better priority are full. Undefined if the carrier may claim every message of the queue.
   */
  readonly overflowSeconds: number | undefined
}

/**
 * Facts that decide whether messages overflow to a carrier of a worse priority although better carriers are available.
 */
export interface Fullness {
  readonly lane: Lane
  readonly hasRoom: (carrier: CarrierId) => boolean
}

/**
 * Returns the queues from which a carrier claims now, in the order of the routes. In each route the available carriers
 * of the best priority claim, and also throttled or probing carriers of a better priority. A message that one carrier
 * temporarily refused is claimed by other carriers as long as one is up. A queue for one carrier is claimed only by
 * that carrier while it is up. A carrier that is down claims nothing. If all better available carriers have no room,
 * the carriers of the next priority claim messages that have waited as long as the route says. Without `fullness` no
 * message overflows.
 */
export function claimableQueues(
  routes: readonly PublishedRoute[],
  carrier: CarrierId,
  availabilityOf: (carrier: CarrierId) => Availability,
  fullness?: Fullness,
): readonly ClaimableQueue[] {
  if (availabilityOf(carrier) === 'down') return []
  if (routes.length === 0)
    return [{ queue: noRoute, route: noRoute, isFresh: true, claimers: [], overflowSeconds: undefined }]
  return routes.flatMap((published) => {
    const { number: route, carriers, queues } = published
    const own = carriers.find((one) => one.carrier === carrier)
    if (own === undefined) return []
    return queues.flatMap((one): readonly ClaimableQueue[] => {
      const { number: queue } = one
      const { claimers, others } = claimersOf(carriers, one, availabilityOf)
      const isFresh = one.refusedBy === undefined
      if (claimers.includes(own))
        return [{ queue, route, isFresh, claimers: claimers.length > 1 ? claimers : [], overflowSeconds: undefined }]
      if (fullness === undefined || !others.includes(own)) return []
      const overflowSeconds = overflowOf(published)[fullness.lane]
      const upToOwn = others.filter(({ priority }) => priority <= own.priority)
      const better = upToOwn.filter(({ priority }) => priority < own.priority)
      if (overflowSeconds === 'never' || better.some((each) => fullness.hasRoom(each.carrier))) return []
      return [{ queue, route, isFresh, claimers: upToOwn, overflowSeconds }]
    })
  })
}

/** Returns the carriers that claim from a queue, and all carriers that are up and may submit its messages. */
function claimersOf(
  carriers: readonly RouteCarrier[],
  { refusedBy, onlyFor }: RouteQueue,
  availabilityOf: (carrier: CarrierId) => Availability,
): { readonly claimers: readonly RouteCarrier[]; readonly others: readonly RouteCarrier[] } {
  const up = carriers.filter(({ carrier }) => availabilityOf(carrier) !== 'down')
  const others = orAll(up, ({ carrier }) => (onlyFor === undefined ? carrier !== refusedBy : carrier === onlyFor))
  const available = others.filter(({ carrier }) => availabilityOf(carrier) === 'available')
  const best = Math.min(...available.map(({ priority }) => priority))
  return { claimers: others.filter(({ priority }) => priority <= best), others }
}

/** Returns the elements for which `picked` is true, or all elements if there are none. */
function orAll<T>(all: readonly T[], picked: (one: T) => boolean): readonly T[] {
  const some = all.filter(picked)
  return some.length > 0 ? some : all
}

/** Destination of a message that a carrier temporarily refused. */
export interface HandOver {
  /** Queue in which the message waits; undefined: its previous queue. */
  readonly queue: QueueNumber | undefined
  /** True if another carrier would accept the message now. */
  readonly isTakenOver: boolean
}

export function handOver(
  routes: readonly PublishedRoute[],
  from: QueueNumber,
  refusedBy: CarrierId,
  availabilityOf: (carrier: CarrierId) => Availability,
): HandOver {
  const route = routeOf(routes, from)
  const queue = route?.queues.find((one) => one.refusedBy === refusedBy)?.number
  const isOther = ({ carrier }: RouteCarrier) => carrier !== refusedBy && availabilityOf(carrier) !== 'down'
  return { queue, isTakenOver: queue !== undefined && route !== undefined && route.carriers.some(isOther) }
}

/**
 * Returns the destination of a message whose sender is registered only with the `registered` carriers: the best of
 * these carriers in the message's route. Undefined if the route contains none of them. `all` lists the carriers for
 * messages without a route.
 */
export function handOverToOneOf(
  routes: readonly PublishedRoute[],
  from: QueueNumber,
  registered: readonly CarrierId[],
  all: readonly CarrierId[],
  availabilityOf: (carrier: CarrierId) => Availability,
): HandOver | undefined {
  const route = routeOf(routes, from)
  const carriers = route?.carriers ?? all.map((carrier) => ({ carrier, priority: 1 }))
  const eligible = carriers.filter(({ carrier }) => registered.includes(carrier))
  const isUp = ({ carrier }: Pick<RouteCarrier, 'carrier'>): boolean => availabilityOf(carrier) !== 'down'
  const [best] = orAll(eligible, isUp).toSorted((a, b) => a.priority - b.priority)
  if (best === undefined) return undefined
  const queues = route?.queues ?? []
  const queue =
    queues.find(({ onlyFor }) => onlyFor === best.carrier) ??
    queues.find(({ refusedBy }) => refusedBy !== undefined && refusedBy !== best.carrier)
  return { queue: queue?.number, isTakenOver: isUp(best) }
}

const routeOf = (routes: readonly PublishedRoute[], queue: QueueNumber): PublishedRoute | undefined =>
  routes.find(({ queues }) => queues.some(({ number }) => number === queue))
