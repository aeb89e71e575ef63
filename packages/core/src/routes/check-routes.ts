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

/** Bounds of a configuration: every message that is accepted is compared with its routes. */
export const routesMax = 200
export const carriersOfRouteMax = 16
export const priorityMax = 100
export const weightMax = 1000

/** What is wrong with routes, each with the route and, if there is one, the value that it is about. */
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
 * What is wrong with these routes over these carriers; none: they may be published. No routes at all are right: then
 * every carrier takes every message. Otherwise the last one, and no other, has no conditions, so that every message has
 * a route.
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

function carrierProblems({ name, carriers: its }: Route, known: readonly CarrierId[]): readonly RouteProblem[] {
  if (its.length === 0) return [{ problem: 'no-carriers', route: name }]
  if (its.length > carriersOfRouteMax) return [{ problem: 'too-many-carriers', route: name }]
  return its.flatMap(({ carrier, priority, weight }, at): readonly RouteProblem[] => {
    const found: RouteProblem[] = []
    if (!known.includes(carrier)) found.push({ problem: 'unknown-carrier', route: name, value: carrier })
    if (isIn(its.slice(0, at), carrier)) found.push({ problem: 'same-carrier', route: name, value: carrier })
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

/** Why these routes cannot be stored, whatever carriers there are; undefined: they can. */
export function refusedRoutes(routes: readonly Route[]): string | undefined {
  const carriers = routes.flatMap(({ carriers: its }) => its.map(({ carrier }) => carrier))
  const [first] = checkRoutes(routes, carriers)
  if (first === undefined) return undefined
  return 'route' in first ? `route ${first.route}: ${first.problem} ${first.value ?? ''}`.trim() : first.problem
}
