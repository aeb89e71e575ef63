import fc from 'fast-check'
import { anAccountId, aCarrierId, aNumber, anAddress } from '@gateway/core/testing'
import { chooseRoute, explainRoute, type Route, type RoutedMessage } from './routes.ts'

const carriers = [{ carrier: aCarrierId('a'), priority: 1, weight: 1 }]
const aRoute = (name: string, conditions: Partial<Route> = {}): Route => ({
  ...{ name, prefixes: [], accounts: [], senders: [], carriers },
  ...conditions,
})

const message: RoutedMessage = { account: anAccountId(7), from: anAddress('45678'), to: aNumber('27821234567') }
const everything = aRoute('everything')

test.each<[string, readonly Route[], Partial<RoutedMessage>, string | undefined]>([
  ['no routes', [], {}, undefined],
  ['no conditions', [everything], {}, 'everything'],
  ['a prefix that fits', [aRoute('it', { prefixes: ['2782'] }), everything], {}, 'it'],
  ['a prefix that does not', [aRoute('it', { prefixes: ['2783'] }), everything], {}, 'everything'],
  ['one of several prefixes', [aRoute('it', { prefixes: ['44', '27'] }), everything], {}, 'it'],
  ['a prefix in the middle of the number', [aRoute('it', { prefixes: ['82'] }), everything], {}, 'everything'],
  ['the whole number', [aRoute('it', { prefixes: ['27821234567'] }), everything], {}, 'it'],
  ['more than the number', [aRoute('it', { prefixes: ['278212345678'] }), everything], {}, 'everything'],
  [
    'the first, not the longest prefix',
    [aRoute('a', { prefixes: ['27'] }), aRoute('b', { prefixes: ['2782'] })],
    {},
    'a',
  ],
  ['its account', [aRoute('it', { accounts: [anAccountId(7)] }), everything], {}, 'it'],
  ['another account', [aRoute('it', { accounts: [anAccountId(8)] }), everything], {}, 'everything'],
  ['its address', [aRoute('it', { senders: [anAddress('45678')] }), everything], {}, 'it'],
  ['another address', [aRoute('it', { senders: [anAddress('45679')] }), everything], {}, 'everything'],
  ['no address', [aRoute('it', { senders: [anAddress('45678')] }), everything], { from: undefined }, 'everything'],
  ['no address, no condition of one', [aRoute('it', { prefixes: ['27'] })], { from: undefined }, 'it'],
  [
    'two of three conditions',
    [aRoute('it', { prefixes: ['27'], accounts: [anAccountId(7)], senders: [anAddress('1234')] })],
    {},
    undefined,
  ],
  ['nothing fits', [aRoute('it', { prefixes: ['44'] })], {}, undefined],
])('chooseRoute: %s', (_, routes, changes, expected) => {
  expect(chooseRoute(routes, { ...message, ...changes })?.name).toBe(expected)
})

test('chooseRoute returns the first route whose conditions the message meets', () => {
  const digits = fc.string({ unit: fc.constantFrom('2', '7', '8'), minLength: 1, maxLength: 4 })
  const conditions = fc.record({
    prefixes: fc.array(digits, { maxLength: 2 }),
    accounts: fc.array(fc.integer({ min: 1, max: 3 }).map(anAccountId), { maxLength: 2 }),
    senders: fc.array(fc.constantFrom('1111', '2222').map(anAddress), { maxLength: 1 }),
  })
  const messages = fc.record({
    account: fc.integer({ min: 1, max: 3 }).map(anAccountId),
    from: fc.constantFrom(anAddress('1111'), anAddress('2222'), undefined),
    to: fc
      .string({ unit: fc.constantFrom('2', '7', '8'), minLength: 9, maxLength: 9 })
      .map((end) => aNumber(`27${end}`)),
  })
  const holds = (route: Route, { account, from, to }: RoutedMessage): boolean =>
    (route.accounts.length === 0 || route.accounts.some((one) => one === account)) &&
    (route.senders.length === 0 || route.senders.some((one) => one === from)) &&
    (route.prefixes.length === 0 || route.prefixes.some((prefix) => to.slice(0, prefix.length) === prefix))
  fc.assert(
    fc.property(fc.array(conditions, { maxLength: 5 }), messages, (all, routed) => {
      const routes = all.map((each, i) => aRoute(`r${i}`, each))
      const chosen = chooseRoute(routes, routed)
      const place = chosen === undefined ? routes.length : routes.indexOf(chosen)
      expect(routes.slice(0, place).some((route) => holds(route, routed))).toBe(false)
      expect(chosen === undefined || holds(chosen, routed)).toBe(true)
    }),
  )
})

test('explainRoute lists, for each route up to the chosen one, the conditions that the message does not meet', () => {
  const routes = [
    aRoute('a', { prefixes: ['44'], accounts: [anAccountId(9)], senders: [anAddress('31022')] }),
    aRoute('b', { senders: [anAddress('31022')] }),
    aRoute('c', { prefixes: ['27'] }),
    everything,
  ]
  expect(explainRoute(routes, message).map(({ route, unmet }) => [route.name, unmet])).toEqual([
    ['a', ['prefix', 'account', 'sender']],
    ['b', ['sender']],
    ['c', []],
  ])
  expect(explainRoute(routes.slice(0, 2), message)).toHaveLength(2)
})
