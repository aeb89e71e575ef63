import { aCarrierId, anAccountId } from '@gateway/core/testing'
import { carriersOfRouteMax, checkRoutes, routesMax } from './check-routes.ts'
import type { Route, RouteCarrier } from './routes.ts'

const known = [aCarrierId('a'), aCarrierId('b')]
const over = (name: string, changes: Partial<RouteCarrier> = {}): RouteCarrier => ({
  ...{ carrier: aCarrierId(name), priority: 1, weight: 1 },
  ...changes,
})
const aRoute = (name: string, changes: Partial<Route> = {}): Route => ({
  ...{ name, prefixes: [], accounts: [], senders: [], carriers: [over('a')] },
  ...changes,
})
const some = aRoute('some', { prefixes: ['27'] })
const others = aRoute('others')

test.each<[string, readonly Route[], readonly string[]]>([
  ['none at all', [], []],
  ['one for all', [others], []],
  ['several', [some, aRoute('more', { accounts: [anAccountId(1)], carriers: [over('a'), over('b')] }), others], []],
  ['the last has a condition', [some], ['no-route-for-all']],
  ['one after that for all', [others, some], ['never-reached some others', 'no-route-for-all']],
  ['two for all', [others, aRoute('rest')], ['never-reached rest others']],
  ['a name twice', [some, some, others], ['same-name some']],
  ['no name', [aRoute('')], ['bad-name ']],
  ['a name in capitals', [aRoute('Others')], ['bad-name Others']],
  ['a long name', [aRoute('x'.repeat(33))], [`bad-name ${'x'.repeat(33)}`]],
  ['the longest name', [aRoute('x'.repeat(32))], []],
  ['a prefix with a plus', [aRoute('some', { prefixes: ['27', '+27'] }), others], ['bad-prefix some +27']],
  ['an empty prefix', [aRoute('some', { prefixes: [''] }), others], ['bad-prefix some ']],
  ['a national prefix', [aRoute('some', { prefixes: ['082'] }), others], ['bad-prefix some 082']],
  ['no carriers', [aRoute('others', { carriers: [] })], ['no-carriers others']],
  ['an unknown carrier', [aRoute('others', { carriers: [over('a'), over('c')] })], ['unknown-carrier others c']],
  ['a carrier twice', [aRoute('others', { carriers: [over('a'), over('a')] })], ['same-carrier others a']],
  ['priority 0', [aRoute('others', { carriers: [over('a', { priority: 0 })] })], ['bad-priority others 0']],
  ['priority 101', [aRoute('others', { carriers: [over('a', { priority: 101 })] })], ['bad-priority others 101']],
  ['priority 100, weight 1000', [aRoute('others', { carriers: [over('a', { priority: 100, weight: 1000 })] })], []],
  ['weight 0', [aRoute('others', { carriers: [over('a', { weight: 0 })] })], ['bad-weight others 0']],
  ['weight 1001', [aRoute('others', { carriers: [over('a', { weight: 1001 })] })], ['bad-weight others 1001']],
  ['half a weight', [aRoute('others', { carriers: [over('a', { weight: 0.5 })] })], ['bad-weight others 0.5']],
  [
    'a weight that is no number',
    [aRoute('others', { carriers: [over('a', { weight: NaN })] })],
    ['bad-weight others NaN'],
  ],
  [
    'several things at once, in the order of the routes',
    [aRoute('A', { carriers: [] }), aRoute('b', { prefixes: ['x'] })],
    ['bad-name A', 'no-carriers A', 'never-reached b A', 'bad-prefix b x', 'no-route-for-all'],
  ],
])('checkRoutes: %s', (_, routes, expected) => {
  const words = checkRoutes(routes, known).map((found) =>
    'route' in found
      ? [found.problem, found.route, ...(found.value === undefined ? [] : [found.value])].join(' ')
      : found.problem,
  )
  expect(words).toEqual(expected)
})

test('checkRoutes limits the number of routes and the number of carriers per route', () => {
  const many = Array.from({ length: routesMax - 1 }, (_, i) => aRoute(`r${i}`, { prefixes: ['27'] }))
  expect(checkRoutes([...many, others], known)).toEqual([])
  expect(checkRoutes([some, ...many, others], known)).toEqual([{ problem: 'too-many-routes' }])
  const carriers = Array.from({ length: carriersOfRouteMax }, (_, i) => over(`c${i}`))
  const names = carriers.map(({ carrier }) => carrier)
  expect(checkRoutes([aRoute('others', { carriers })], names)).toEqual([])
  expect(checkRoutes([aRoute('others', { carriers: [...carriers, over('a')] })], [...names, ...known])).toEqual([
    { problem: 'too-many-carriers', route: 'others' },
  ])
})
