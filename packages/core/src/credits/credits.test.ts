import fc from 'fast-check'
import {
  credits,
  formatCredits,
  minus,
  parseCredits,
  plus,
  spend,
  times,
  wholeCredits,
  type Credits,
} from './credits.ts'

const max = Number.MAX_SAFE_INTEGER
const amounts = fc.maxSafeInteger().map((tenths) => credits(tenths))

test.each([0.5, Number.NaN, Infinity, max + 1, -max - 1])('credits throws for %d tenths', (tenths) => {
  expect(() => credits(tenths)).toThrow(RangeError)
})

test('there is no negative zero', () => {
  expect(Object.is(credits(-0), 0)).toBe(true)
  expect(Object.is(times(credits(-5), 0), 0)).toBe(true)
})

test.each<[string, number]>([
  ['0', 0],
  ['12', 120],
  ['12.5', 125],
  ['12.0', 120],
  ['-3.0', -30],
  ['-0.5', -5],
  ['-0', 0],
  ['007', 70],
  ['0.1', 1],
  ['1000000000000', 1e13],
  ['-1000000000000.0', -1e13],
])('parseCredits reads %s', (text, tenths) => {
  expect(parseCredits(text)).toBe(tenths)
})

test.each([
  '',
  ' ',
  ' 12',
  '12\n',
  '+12',
  '--1',
  '12.',
  '.5',
  '12.55',
  '12.50',
  '12,5',
  '1e3',
  '0x10',
  '1_000',
  'NaN',
  'Infinity',
  '１２',
  '1000000000000.1',
  '-1000000000000.1',
  '9999999999999',
  '10000000000000',
  '9'.repeat(400),
])('parseCredits refuses %j', (text) => {
  expect(parseCredits(text)).toBeUndefined()
})

test.each<[number, string, number]>([
  [0, '0.0', 0],
  [1000, '100.0', 100],
  [1, '0.1', 0],
  [4, '0.4', 0],
  [5, '0.5', 1],
  [14, '1.4', 1],
  [15, '1.5', 2],
  [25, '2.5', 3],
  [-4, '-0.4', 0],
  [-5, '-0.5', 0],
  [-6, '-0.6', -1],
  [-25, '-2.5', -2],
  [-1000, '-100.0', -100],
  [max, '900719925474099.1', 900_719_925_474_099],
  [-max, '-900719925474099.1', -900_719_925_474_099],
])('%d tenths are written %s, in whole credits %d', (tenths, text, whole) => {
  expect(formatCredits(credits(tenths))).toBe(text)
  expect(Object.is(wholeCredits(credits(tenths)), whole)).toBe(true)
})

test('sums are exact where floating-point sums are not', () => {
  expect(formatCredits(plus(credits(1), credits(2)))).toBe('0.3')
  expect(formatCredits(times(credits(11), 3))).toBe('3.3')
  expect(formatCredits(minus(credits(3), credits(5)))).toBe('-0.2')
})

test('a result that would not be exact throws', () => {
  expect(() => plus(credits(max), credits(1))).toThrow(RangeError)
  expect(() => minus(credits(-max), credits(1))).toThrow(RangeError)
  expect(() => times(credits(max), 2)).toThrow(RangeError)
  expect(() => times(credits(5), 0.5)).toThrow(RangeError)
})

test('any amount is formatted with exactly one decimal, and up to 10^12 credits it is parsed back', () => {
  fc.assert(
    fc.property(amounts, (amount) => {
      const text = formatCredits(amount)
      expect(text).toMatch(/^-?(0|[1-9][0-9]*)\.[0-9]$/)
      expect(parseCredits(text)).toBe(Math.abs(amount) <= 1e13 ? amount : undefined)
    }),
  )
})

test('an amount rounded to whole credits differs by at most half a credit', () => {
  fc.assert(
    fc.property(amounts, (amount) => {
      const off = BigInt(wholeCredits(amount)) * 10n - BigInt(amount)
      expect(off > -5n && off <= 5n).toBe(true)
    }),
  )
})

const costsOf = (tenths: readonly number[]): readonly Credits[] => tenths.map((each) => credits(each))

test.each<[string, number, readonly number[], readonly boolean[], number]>([
  ['nothing to pay', 50, [], [], 50],
  ['all fit', 50, [20, 20], [true, true], 10],
  ['the last tenth may be spent', 50, [20, 30], [true, true], 0],
  ['the first come first', 50, [30, 30, 20], [true, false, true], 0],
  ['a later, cheaper one may fit', 50, [60, 50], [false, true], 0],
  ['the same cost twice is paid twice', 25, [10, 10, 10], [true, true, false], 5],
  ['an empty balance pays nothing', 0, [10, 1], [false, false], 0],
  ['what is free always fits', 0, [10, 0], [false, true], 0],
  ['a debt pays nothing', -5, [10, 0], [false, false], -5],
])('spend: %s', (_, balance, costs, paid, remaining) => {
  expect(spend(credits(balance), costsOf(costs))).toEqual({ paid: paid, balance: remaining })
})

test('spend throws for a negative cost, which would create credits', () => {
  expect(() => spend(credits(50), costsOf([10, -10]))).toThrow(RangeError)
})

test('spend refuses only costs that do not fit at their turn, and the balance is the unspent rest', () => {
  const anyCosts = fc.array(fc.nat(100), { maxLength: 50 })
  fc.assert(
    fc.property(fc.nat(1000), anyCosts, (balance, costs) => {
      const spending = spend(credits(balance), costsOf(costs))
      let remaining = balance
      costs.forEach((cost, i) => {
        expect(spending.paid[i]).toBe(cost <= remaining)
        if (spending.paid[i] === true) remaining -= cost
      })
      expect(spending.balance).toBe(remaining)
      expect(remaining).toBeGreaterThanOrEqual(0)
    }),
  )
})
