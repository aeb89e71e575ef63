import fc from 'fast-check'
import { credits, type Credits } from './credits.ts'
import { spend } from './spend.ts'

const amounts = (tenths: readonly number[]): readonly Credits[] => tenths.map((each) => credits(each))

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
])('spend: %s', (_, balance, costs, taken, left) => {
  expect(spend(credits(balance), amounts(costs))).toEqual({ taken, balance: left })
})

test('spend throws for a negative cost, which would make money', () => {
  expect(() => spend(credits(50), amounts([10, -10]))).toThrow(RangeError)
})

test('spend refuses only what does not fit at its turn, and the balance is what was not paid', () => {
  const anyCosts = fc.array(fc.nat(100), { maxLength: 50 })
  fc.assert(
    fc.property(fc.nat(1000), anyCosts, (balance, costs) => {
      const spending = spend(credits(balance), amounts(costs))
      let left = balance
      costs.forEach((cost, i) => {
        expect(spending.taken[i]).toBe(cost <= left)
        if (spending.taken[i] === true) left -= cost
      })
      expect(spending.balance).toBe(left)
      expect(left).toBeGreaterThanOrEqual(0)
    }),
  )
})
