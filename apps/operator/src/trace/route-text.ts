import type { TracedRoute } from '@gateway/core'

/** Which route was chosen and why, with its carriers in the order in which they are tried. */
export function routeText(route: TracedRoute): string {
  const { name, place, carriers } = route
  const where = place === undefined ? 'not published any more' : `number ${place} of those that are tried`
  const tried = carriers
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ carrier, priority, weight }) => `${carrier} (priority ${priority}, weight ${weight})`)
  return `${name}, ${where}, for ${conditionsOf(route)}; carriers: ${tried.join(', ')}`
}

function conditionsOf({ prefixes, accounts, senders }: TracedRoute): string {
  const conditions = [
    ...(prefixes.length > 0 ? [`numbers that begin with ${prefixes.join(' or ')}`] : []),
    ...(accounts.length > 0 ? [`account ${accounts.join(' or ')}`] : []),
    ...(senders.length > 0 ? [`sender address ${senders.join(' or ')}`] : []),
  ]
  return conditions.length === 0 ? 'every message' : conditions.join(' and ')
}
