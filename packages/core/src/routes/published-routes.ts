import type { Brand } from '../brand.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import { chooseRoute, type Route, type RoutedMessage } from './routes.ts'

/**
 * The number that stands for a route, for ever, and for the queue of its messages which nobody refused; 0 is none: any
 * carrier.
 */
export type RouteNumber = Brand<number, 'RouteNumber'>

export const noRoute = 0 as RouteNumber

/**
 * The number that stands for a route and the carrier that refused a message for now, or none; 0: route 0, any carrier.
 */
export type QueueNumber = Brand<number, 'RouteNumber' | 'QueueNumber'>

/** What waits in one queue is claimed together. */
export interface RouteQueue {
  readonly number: QueueNumber
  /** Undefined: nobody; of a route with one carrier there is only this queue. */
  readonly refusedBy: CarrierId | undefined
  /** The carrier that its messages wait for, since their sender is registered there; undefined: for any. */
  readonly onlyFor?: CarrierId
}

/** A route as it is stored. */
export interface PublishedRoute extends Route {
  readonly number: RouteNumber
  /** Those of `queuesOf`. */
  readonly queues: readonly RouteQueue[]
}

/**
 * The queues of a route: that of messages which nobody refused comes first. If its carriers are several, one for each
 * that refused; and one for each that is waited for, if they are more than two: of two, who is waited for is the one
 * that did not refuse.
 */
export function queuesOf(carriers: readonly CarrierId[]): readonly Omit<RouteQueue, 'number'>[] {
  const refusers = carriers.length > 1 ? carriers : []
  const awaited = carriers.length > 2 ? carriers : []
  return [
    ...[undefined, ...refusers].map((refusedBy) => ({ refusedBy })),
    ...awaited.map((onlyFor) => ({ refusedBy: undefined, onlyFor })),
  ]
}

/** The routes of the deployment. The process that dispatches publishes them; those that accept messages read them. */
export interface Routes {
  /**
   * In the order in which they are tried; none: every carrier takes every message. Changes are seen by every process
   * within 5 seconds.
   */
  list(): Promise<readonly PublishedRoute[]>
  /**
   * These replace all that were published before; the last call decides. A route keeps its number by its name, also
   * while it is not published. Throws a RangeError for what `checkRoutes` finds wrong, carriers aside.
   */
  publish(routes: readonly Route[]): Promise<void>
  /**
   * Moves what is due in queues from which nobody claims any more (`PublishedRoute.queues`), or, once there are routes,
   * in that of no route, to the routes that are published: at most so many ranges. Returns how many it moved.
   */
  reroute(rangesMax: number): Promise<number>
}

/** The number of the route of a message; without routes, or where none fits, 0. */
export const routeNumberOf = (routes: readonly PublishedRoute[], message: RoutedMessage): RouteNumber =>
  chooseRoute(routes, message)?.number ?? noRoute

/** Those of one route together, the route of the first of all first; otherwise in their order. */
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
