import { isPrefix } from '../credits/prices.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import {
  isForAll,
  overflowOf,
  overflowSecondsMax,
  type OverflowAfter,
  type Route,
  type RouteCarrier,
} from './routes.ts'

/** Maximum number of routes. It is limited because every accepted message is compared with the routes. */
export const routesMax = 200
export const carriersOfRouteMax = 16
export const priorityMax = 100
export const weightMax = 1000

/** A problem of a configuration, with the route and, if there is one, the offending value. */
export type RouteProblem =
  | { readonly problem: 'too-many-routes' | 'no-route-for-all' }
  | {
      readonly problem:
        | 'bad-name'
        | 'same-name'
        | 'never-reached'
        | 'bad-prefix'
        | 'no-carriers'
        | 'too-many-carriers'
        | 'unknown-carrier'
        | 'same-carrier'
        | 'bad-priority'
        | 'bad-weight'
        | 'bad-overflow'
      readonly route: string
      readonly value?: string
    }

/**
 * Returns the problems of these routes with these carriers; an empty list means that they may be published. A
 * configuration without routes is valid: every carrier then gets every message. Otherwise exactly the last route has no
 * conditions, so that every message has a route.
 */
export function checkRoutes(routes: readonly Route[], carriers: readonly CarrierId[]): readonly RouteProblem[] {
  if (routes.length === 0) return []
  if (routes.length > routesMax) return [{ problem: 'too-many-routes' }]
  const last = routes.at(-1)
  return [
    ...routes.flatMap((route, at) => [
      ...nameProblems(route, routes.slice(0, at)),
      ...prefixProblems(route),
      ...carrierProblems(route, carriers),
      ...overflowProblems(route),
    ]),
    ...(last !== undefined && isForAll(last) ? [] : [{ problem: 'no-route-for-all' } as const]),
  ]
}

function nameProblems({ name }: Route, before: readonly Route[]): readonly RouteProblem[] {
  const found: RouteProblem[] = []
  if (!/^[a-z0-9-]{1,32}$/.test(name)) found.push({ problem: 'bad-name', route: name })
  if (before.some((other) => other.name === name)) found.push({ problem: 'same-name', route: name })
  const forAll = before.find(isForAll)
  if (forAll !== undefined) found.push({ problem: 'never-reached', route: name, value: forAll.name })
  return found
}

const prefixProblems = ({ name, prefixes }: Route): readonly RouteProblem[] =>
  prefixes
    .filter((prefix) => prefix === '' || !isPrefix(prefix))
    .map((prefix) => ({ problem: 'bad-prefix', route: name, value: prefix }))

function carrierProblems({ name, carriers: ofRoute }: Route, known: readonly CarrierId[]): readonly RouteProblem[] {
  if (ofRoute.length === 0) return [{ problem: 'no-carriers', route: name }]
  if (ofRoute.length > carriersOfRouteMax) return [{ problem: 'too-many-carriers', route: name }]
  return ofRoute.flatMap(({ carrier, priority, weight }, at): readonly RouteProblem[] => {
    const found: RouteProblem[] = []
    if (!known.includes(carrier)) found.push({ problem: 'unknown-carrier', route: name, value: carrier })
    if (isIn(ofRoute.slice(0, at), carrier)) found.push({ problem: 'same-carrier', route: name, value: carrier })
    if (!isFromOne(priority, priorityMax)) found.push({ problem: 'bad-priority', route: name, value: String(priority) })
    if (!isFromOne(weight, weightMax)) found.push({ problem: 'bad-weight', route: name, value: String(weight) })
    return found
  })
}

const overflowProblems = (route: Route): readonly RouteProblem[] =>
  Object.values(overflowOf(route))
    .filter((after: OverflowAfter) => after !== 'never' && !(Number.isInteger(after) && isWithinOverflow(after)))
    .map((after) => ({ problem: 'bad-overflow', route: route.name, value: String(after) }))

const isWithinOverflow = (seconds: number): boolean => seconds >= 0 && seconds <= overflowSecondsMax

const isIn = (carriers: readonly RouteCarrier[], id: CarrierId): boolean =>
  carriers.some(({ carrier }) => carrier === id)

const isFromOne = (value: number, max: number): boolean => Number.isInteger(value) && value >= 1 && value <= max

/** Returns why these routes cannot be stored, regardless of the configured carriers; undefined if they can. */
export function refusedRoutes(routes: readonly Route[]): string | undefined {
  const carriers = routes.flatMap(({ carriers: ofRoute }) => ofRoute.map(({ carrier }) => carrier))
  const [first] = checkRoutes(routes, carriers)
  if (first === undefined) return undefined
  return 'route' in first ? `route ${first.route}: ${first.problem} ${first.value ?? ''}`.trim() : first.problem
}
