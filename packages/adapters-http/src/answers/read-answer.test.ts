import fc from 'fast-check'
import { accountAt } from '../account.ts'
import { isUsable, readDescription } from '../description/read-description.ts'
import { providerNames, shippedProvider } from '../providers.ts'
import { readAnswer, type AnswerMeaning } from './read-answer.ts'

const now = Date.parse('2026-10-18T08:00:00Z')

function meaningOf(answer: object, status: number, body: string, headers: Record<string, string> = {}): AnswerMeaning {
  const provider = readDescription({ send: { url: '/send' }, answer })
  if (!isUsable(provider)) throw new Error(provider.problems.join('\n'))
  return readAnswer(accountAt(provider, {}), { status, headers, body }, '77-abc234', now)
}

const ok = { id: '/id', rules: [{ status: '2xx', is: 'accepted' }] }

test.each([
  ['an id of digits that a number would change', ok, '{"id":12345678901234567890}', '12345678901234567890'],
  ['an id in a list', { ...ok, id: '/0/id' }, '[{"id":"a"}]', 'a'],
  ['the first id of several places', { ...ok, id: ['/a', '/b'] }, '{"a":"","b":7}', '7'],
  ['an id in a text that is not JSON', { ...ok, id: { pattern: '^OK: ([a-z0-9]+)' } }, 'OK: abc12\n', 'abc12'],
])('%s', (_, answer, body, reference) => {
  expect(meaningOf(answer, 200, body)).toMatchObject({ outcome: 'accepted', reference })
})

test.each([
  ['no id', '{}'],
  ['an id that is null', '{"id":null}'],
  ['an id that is an object', '{"id":{}}'],
  ['an id that is blank', '{"id":""}'],
  ['an id that is inherited', '{"__proto__":{"id":"x"}}'],
  ['a text that is not JSON', 'OK'],
  ['nothing', ''],
])('a 2xx with %s is unknown', (_, body) => {
  expect(meaningOf(ok, 200, body)).toEqual({ outcome: 'unknown', error: 'HTTP 200 without an id' })
})

test.each([
  [301, 'broken'],
  [302, 'unknown'],
  [308, 'broken'],
  [400, 'delayed'],
  [499, 'delayed'],
  [500, 'unknown'],
  [503, 'unknown'],
])('HTTP %i that no rule explains is %s', (status, outcome) => {
  expect(meaningOf(ok, status, '{"id":"x"}')).toMatchObject({ outcome })
})

const priced = { ...ok, price: { amount: '/price', currency: '/unit' } }

test.each<[string, unknown, unknown, object | undefined]>([
  ['a decimal text', '0.00750', 'USD', { amount: '0.00750', currency: 'USD' }],
  ['a negative amount, as of a charge, and a currency in lower case', '-0.0075', 'eur', { amount: '0.0075', currency: 'EUR' }],
  ['zero', 0, 'USD', { amount: '0', currency: 'USD' }],
  ['15 digits on both sides of the point', '123456789012345.123456789012345', 'USD', { amount: '123456789012345.123456789012345', currency: 'USD' }],
  ['an amount of 300 digits', '9'.repeat(300), 'USD', undefined],
  ['300 decimals', `0.${'1'.repeat(300)}`, 'USD', undefined],
  ['an exponent', '1e9', 'USD', undefined],
  ['a number too large for decimal notation', 1e300, 'USD', undefined],
  ['NaN', 'NaN', 'USD', undefined],
  ['Infinity', '-Infinity', 'USD', undefined],
  ['two signs', '--1', 'USD', undefined],
  ['digits of another script', '\u0661\u0662', 'USD', undefined],
  ['a text for SQL', "1'; drop table message; --", 'USD', undefined],
  ['an object', { amount: 1 }, 'USD', undefined],
  ['no currency', '1', undefined, undefined],
  ['a currency of 50 characters', '1', 'U'.repeat(50), undefined],
  ['a sign as the currency', '1', '$', undefined],
  ['a currency with a NUL character', '1', 'US\u0000', undefined],
])('a price of %s is read or ignored, and the message is accepted', (_, price, unit, expected) => {
  expect(meaningOf(priced, 200, JSON.stringify({ id: 'a', price, unit }))).toMatchObject({
    ...{ outcome: 'accepted', reference: 'a' },
    price: expected,
  })
}) // prettier-ignore

const slow = { id: '/id', rules: [{ status: 429, is: 'throttled', wait: 4 }] }

test.each([
  ['nothing', undefined, 4],
  ['seconds', '7', 7],
  ['a date', 'Sun, 18 Oct 2026 08:00:09 GMT', 9],
  ['a date in the past', 'Sun, 18 Oct 2026 07:00:00 GMT', 0],
  ['more than an hour', '86400', 3600],
  ['no time', 'soon', 4],
])('a throttled answer whose Retry-After has %s', (_, header, waitSeconds) => {
  const headers = header === undefined ? undefined : { 'retry-after': header }
  expect(meaningOf(slow, 429, '', headers)).toEqual({ outcome: 'throttled', error: 'HTTP 429', waitSeconds })
})

test('the first rule that holds counts, and a number is equal to its digits', () => {
  const rules = [
    { at: '/code', in: ['7'], is: 'refused' },
    { at: '/code', is: 'broken' },
    { status: '2xx', is: 'accepted' },
  ]
  const outcomes = ['{"code":7}', '{"code":"7"}', '{"code":8}', '{"id":"x"}'].map(
    (body) => meaningOf({ id: '/id', rules }, 200, body).outcome,
  )
  expect(outcomes).toEqual(['refused', 'refused', 'broken', 'accepted'])
})

test('parts: one unknown part makes the message unknown, since the rest may have been accepted', () => {
  const rules = [
    { at: '/s', in: [0], is: 'accepted' },
    { at: '/s', in: [1], is: 'refused' },
  ]
  const parts = { id: '/id', each: '/list', rules }
  const of = (...states: readonly number[]) =>
    meaningOf(parts, 200, JSON.stringify({ list: states.map((s, at) => ({ id: `p${at}`, s })) }))
  expect(of(0, 0)).toMatchObject({ outcome: 'accepted', reference: 'p0', furtherReferences: ['p1'] })
  expect(of(0, 1)).toMatchObject({ outcome: 'partly', reference: 'p0' })
  expect(of(1, 1)).toMatchObject({ outcome: 'refused' })
  expect([of(0, 2), of(1, 2), of()].map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown', 'unknown'])
})

test('a pattern takes time proportional to the text', () => {
  const rules = [{ pattern: '(a+)+b', is: 'refused' }]
  const started = performance.now()
  expect(meaningOf({ id: '/id', rules }, 200, 'a'.repeat(200_000)).outcome).toBe('unknown')
  expect(performance.now() - started).toBeLessThan(5000)
})

const answers = fc.record({
  status: fc.integer({ min: 100, max: 599 }),
  headers: fc.dictionary(fc.constantFrom('retry-after', 'x'), fc.string(), { noNullPrototype: true }),
  body: fc.oneof(
    fc.string(),
    fc.json(),
    fc.jsonValue().map((value) => JSON.stringify({ messages: [value], id: value })),
  ),
})

test('no answer makes a provider accept without a reference, and none makes the reader fail', () => {
  fc.assert(
    fc.property(fc.constantFrom(...providerNames), answers, (name, answer) => {
      const meaning = readAnswer(accountAt(shippedProvider(name), {}), answer, '77-abc234', now)
      if (meaning.outcome === 'accepted' || meaning.outcome === 'partly') {
        expect(meaning.reference).not.toBe('')
        expect(answer.status === 409 || (answer.status >= 200 && answer.status < 300) || name === 'gateway').toBe(true)
      } else if ('error' in meaning) expect(meaning.error.length).toBeLessThanOrEqual(200)
      if (meaning.outcome === 'throttled') expect(meaning.waitSeconds).toBeGreaterThanOrEqual(0)
      if (meaning.outcome === 'throttled') expect(meaning.waitSeconds).toBeLessThanOrEqual(3600)
    }),
  )
})

test('an id of any digits is read as it is written', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 60n }), (id) => {
      expect(meaningOf(ok, 200, `{"text":"0123456789012345678\\\\","id":${id}}`)).toMatchObject({
        reference: String(id),
      })
    }),
  )
})
