import fc from 'fast-check'
import { parseMsisdn, type Msisdn } from '../messages/msisdn.ts'
import { credits } from './credits.ts'
import { priceFor, priceOf, type PriceTable } from './prices.ts'

const table = (rows: Readonly<Record<string, number>>): PriceTable =>
  new Map(Object.entries(rows).map(([prefix, tenths]) => [prefix, credits(tenths)]))

function msisdn(text: string): Msisdn {
  const number = parseMsisdn(text)
  if (number === undefined) throw new Error(text)
  return number
}

const rows = { '': 10, '27': 8, '2782': 7, '27821234567': 1, '278212345678': 99, '44': 20, '1': 0 }

test.each<[string, Readonly<Record<string, number>>, string, number | undefined]>([
  ['the default alone', { '': 10 }, '27821234567', 10],
  ['no row at all', {}, '27821234567', undefined],
  ['no row that matches, and no default', { '44': 20 }, '27821234567', undefined],
  ['the longest of several', rows, '27829999999', 7],
  ['a shorter one', rows, '27839999999', 8],
  ['the whole number', rows, '27821234567', 1],
  ['the default beside others', rows, '4915112345678', 10],
  ['a price of nothing', rows, '12025550123', 0],
  ['a prefix of another number', rows, '447700900123', 20],
])('priceOf: %s', (_, prices, number, expected) => {
  expect(priceOf(table(prices), msisdn(number))).toBe(expected)
})

test.each<[string, Readonly<Record<string, number>> | undefined, string, number | undefined]>([
  ['none of its own: as for all', undefined, '27821234567', 1],
  ['its own that fits, though one of all is longer', { '27': 5 }, '27821234567', 5],
  ['its longest own', { '27': 5, '2782': 6 }, '27821234567', 6],
  ['its own default before all of all', { '': 2 }, '447700900123', 2],
  ['none of its own fits: as for all', { '27': 5 }, '447700900123', 20],
  ['its own price of nothing', { '44': 0 }, '447700900123', 0],
])('priceFor an account, %s', (_, own, number, expected) => {
  expect(priceFor(own && table(own), table(rows), msisdn(number))).toBe(expected)
})

test('priceOf returns the price of the longest prefix, whatever the rows and their order', () => {
  const prefix = fc.string({ unit: fc.constantFrom('2', '7', '8', '1'), maxLength: 6 })
  const number = fc.string({ unit: fc.constantFrom('2', '7', '8', '1'), minLength: 9, maxLength: 9 })
  fc.assert(
    fc.property(fc.array(fc.tuple(prefix, fc.nat(100))), number, (entries, end) => {
      const prices = new Map(entries.map(([start, tenths]) => [start, credits(tenths)]))
      const to = msisdn(`27${end}`)
      const longest = Array.from(prices.keys())
        .filter((start) => to.startsWith(start))
        .sort((x, y) => y.length - x.length)[0]
      expect(priceOf(prices, to)).toBe(longest === undefined ? undefined : prices.get(longest))
    }),
  )
})
