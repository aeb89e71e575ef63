import type { TracedRoute } from '@gateway/core/messages'
import { aCarrierId, anAccountId, anAddress } from '@gateway/core/testing'
import { routeText } from './trace-text.ts'

const route: TracedRoute = {
  ...{ name: 'others', place: 3, prefixes: [], accounts: [], senders: [] },
  carriers: [
    { carrier: aCarrierId('b'), priority: 2, weight: 1 },
    { carrier: aCarrierId('a'), priority: 1, weight: 3 },
  ],
}
const carriers =
  'carriers: a (priority 1, weight 3), b (priority 2, weight 1); ' +
  'when these are full, single sends go to the next priority after 2 s, bulk never'

test.each<[string, Partial<TracedRoute>, string]>([
  ['no conditions', {}, `others, number 3 of those that are tried, for every message; ${carriers}`],
  ['not published', { place: undefined }, `others, not published any more, for every message; ${carriers}`],
  [
    'all conditions',
    { prefixes: ['2782', '44'], accounts: [anAccountId(7)], senders: [anAddress('45678')] },
    `others, number 3 of those that are tried, for numbers that begin with 2782 or 44 and account 7 and sender address 45678; ${carriers}`,
  ],
])('routeText: %s', (_, changes, expected) => {
  expect(routeText({ ...route, ...changes })).toBe(expected)
})
