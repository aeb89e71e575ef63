import { checkRoutes, type CarrierId, type Route, type RouteProblem } from '@gateway/core'

const WORDS = {
  'too-many-routes': 'there are too many routes',
  'no-route-for-all': 'the last route has conditions: end with one that has no prefixes, accounts and senders',
  'bad-name': 'the name is none',
  'same-name': 'the name is given twice',
  'never-reached': 'it is never reached, as every message takes the route',
  'bad-prefix': 'this is no prefix of a number:',
  'no-carriers': 'it has no carrier',
  'too-many-carriers': 'it has too many carriers',
  'unknown-carrier': 'there is no carrier',
  'same-carrier': 'it has twice the carrier',
  'bad-priority': 'this is no priority:',
  'bad-weight': 'this is no weight:',
} satisfies Record<RouteProblem['problem'], string>

/** What core finds wrong with routes, as sentences with their places. */
export const routeProblems = (routes: readonly Route[], carriers: readonly CarrierId[]): readonly string[] =>
  checkRoutes(routes, carriers).map((found) => {
    const words = WORDS[found.problem]
    if (!('route' in found)) return `/routes: ${words}`
    const at = routes.findIndex(({ name }) => name === found.route)
    return `/routes/${at} (${found.route}): ${words} ${found.value ?? ''}`.trimEnd()
  })
