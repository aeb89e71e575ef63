import type { Brand } from '../brand.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import { chooseRoute, type Route, type RoutedMessage } from './routes.ts'

/**
 * Permanent number of a route. It is also the number of the queue of those messages of the route that no carrier has
 * refused. 0 means no route: any carrier may send the message.
 */
export type RouteNumber = Brand<number, 'RouteNumber'>

export const noRoute = 0 as RouteNumber

/**
 * Permanent number of a queue. A route has one queue for messages that no carrier has refused, and further ones such as
 * those for messages that a certain carrier temporarily refused. 0 is the queue of messages without a route.
 */
export type QueueNumber = Brand<number, 'RouteNumber' | 'QueueNumber'>

/** A queue of a route, whose messages are claimed together. */
export interface RouteQueue {
  readonly number: QueueNumber
  /**
   * Carrier that temporarily refused the messages; undefined if none did. A route with one carrier has only a queue
   * without refusals.
   */
  readonly refusedBy: CarrierId | undefined
  /**
   * The only carrier that may get these messages, because their sender is registered with it; undefined: any carrier.
   */
  readonly onlyFor?: CarrierId
}

export interface PublishedRoute extends Route {
  readonly number: RouteNumber
  /** Queues of the route, as listed by `queuesOf`. */
  readonly queues: readonly RouteQueue[]
}

/**
 * Returns the queues of a route. The first is the queue of messages that no carrier has refused. A route with several
 * carriers also has one queue for the refusals of each carrier. A route with more than two carriers also has, for each
 * carrier, one queue of messages that only this carrier may send. In a route with two carriers such messages wait in
 * the queue of the other carrier's refusals.
 */
export function queuesOf(carriers: readonly CarrierId[]): readonly Omit<RouteQueue, 'number'>[] {
  const refusers = carriers.length > 1 ? carriers : []
  const awaited = carriers.length > 2 ? carriers : []
  return [
    ...[undefined, ...refusers].map((refusedBy) => ({ refusedBy })),
    ...awaited.map((onlyFor) => ({ refusedBy: undefined, onlyFor })),
  ]
}

/**
 * Store of the routes of the deployment. The dispatching process publishes them; processes that accept messages read
 * them.
 */
export interface Routes {
  /**
   * Returns the routes in the order in which they are tried; without routes every carrier gets every message. Every
   * process sees a change within 5 seconds.
   */
  list(): Promise<readonly PublishedRoute[]>
  /**
   * Replaces all published routes; the last call decides. A route keeps its number by name, even while it is not
   * published. Throws a RangeError for problems that `checkRoutes` finds, apart from carriers.
   */
  publish(routes: readonly Route[]): Promise<void>
  /**
   * Moves due messages to the published routes, at most `rangesMax` ranges, from queues that no carrier claims any more
   * (`PublishedRoute.queues`), and from the queue of no route once there are routes. Returns the number of ranges
   * moved.
   */
  reroute(rangesMax: number): Promise<number>
}

/** Returns the number of the route of a message; 0 if there are no routes or none matches. */
export const routeNumberOf = (routes: readonly PublishedRoute[], message: RoutedMessage): RouteNumber =>
  chooseRoute(routes, message)?.number ?? noRoute

/** Groups items by route, starting with the route of the first item; within a route the order stays. */
export function byRoute<T extends { readonly route: RouteNumber }>(items: readonly T[]): readonly T[] {
  const [first] = items
  if (items.every(({ route }) => route === first?.route)) return items
  const groups = new Map<RouteNumber, T[]>()
  for (const item of items) {
    const group = groups.get(item.route)
    if (group === undefined) groups.set(item.route, [item])
    else group.push(item)
  }
  return [...groups.values()].flat()
}
