import type { Msisdn } from '@gateway/core/messages'
import { noRoute, type RouteNumber } from '@gateway/core/routes'
import { anAccountId, anOrder, numbers } from '@gateway/core/testing'
import { layOut, type OrderSends } from './sends.ts'

const account = anAccountId(7)
const range = (lo: number, hi: number) => ({ lo, hi, until: 0 })
const senderOf = () => 1
const shape = ({ sends }: OrderSends) => sends.map(({ firstId, cost, numbers }) => [firstId, cost, numbers.length])

test('neighbours with the same text and price share a send, and ids ascend in the order of the recipients', () => {
  const order = anOrder(account, { to: numbers(5), costs: [10, 10, 20, 10, 10] }, { to: numbers(2), text: 'other' })
  const laidOut = layOut({ ...order, senderOf }, [range(100, 107)])
  expect(shape(laidOut)).toEqual([
    [100, 10, 2],
    [102, 20, 1],
    [103, 10, 2],
    [105, 10, 2],
  ])
  expect(laidOut.results).toEqual([
    [100, 101, 102, 103, 104],
    [105, 106],
  ])
})

test('unpaid recipients have no id, and those around them still share a send', () => {
  const order = anOrder(account, { to: numbers(4) })
  const laidOut = layOut({ ...order, senderOf }, [range(100, 104)], [true, false, true, true])
  expect(shape(laidOut)).toEqual([[100, 10, 3]])
  expect(laidOut.sends[0]?.numbers).toEqual([0, 2, 3].map((i) => numbers(4)[i]))
  expect(laidOut.results).toEqual([[100, 'insufficient-credits', 101, 102]])
  expect(laidOut.rest).toEqual([range(103, 104)])
})

test('a send ends with its range and with its block, and has no more than 1000 numbers', () => {
  const order = anOrder(account, { to: numbers(3000) })
  const laidOut = layOut({ ...order, senderOf }, [range(9_500, 10_600), range(20_000, 22_000)])
  expect(shape(laidOut)).toEqual([
    [9_500, 10, 500],
    [10_000, 10, 600],
    [20_000, 10, 1000],
    [21_000, 10, 900],
  ])
  expect(laidOut.rest).toEqual([range(21_900, 22_000)])
})

test('unused ids of all ranges are returned', () => {
  const laidOut = layOut(
    { ...anOrder(account, { to: numbers(3) }), senderOf },
    [range(10, 20), range(30, 40)],
    [false, false, false],
  )
  expect(laidOut.sends).toEqual([])
  expect(laidOut.rest).toEqual([range(10, 20), range(30, 40)])
})

test('too few ids are an error, not a message without one', () => {
  expect(() => layOut({ ...anOrder(account, { to: numbers(3) }), senderOf }, [range(1, 3)])).toThrow(
    'more recipients than ids',
  )
})

test('a text over two alternating routes is one send for each, and each recipient has the returned id', () => {
  const to = numbers(6)
  const order = anOrder(account, { to })
  const [even, odd] = [4, 9] as RouteNumber[]
  const routeOf = ({ number }: { readonly number: Msisdn }) => (to.indexOf(number) % 2 === 0 ? even : odd) ?? noRoute
  const { sends, results } = layOut({ ...order, senderOf, routeOf }, [range(100, 106)])
  expect(sends.map(({ firstId, route, numbers }) => [firstId, route, numbers])).toEqual([
    [100, even, [0, 2, 4].map((i) => to[i])],
    [103, odd, [1, 3, 5].map((i) => to[i])],
  ])
  expect(results).toEqual([[100, 103, 101, 104, 102, 105]])
})

test('over several routes unpaid recipients are omitted, and the lane is that of the text', () => {
  const to = numbers(24)
  const routeOf = ({ number }: { readonly number: Msisdn }) => (to.indexOf(number) % 2) as RouteNumber
  const accepted = to.map((_, i) => i < 22)
  const { sends, results } = layOut({ ...anOrder(account, { to }), senderOf, routeOf }, [range(100, 124)], accepted)
  expect(sends.map(({ lane, numbers }) => [lane, numbers.length])).toEqual([
    ['bulk', 11],
    ['bulk', 11],
  ])
  expect(results[0]?.slice(20)).toEqual([110, 121, 'insufficient-credits', 'insufficient-credits'])
})
