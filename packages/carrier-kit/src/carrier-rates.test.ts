import { fairShares, renewedShare } from './carrier-rates.ts'

test.each([
  [20, [0], [20]],
  [20, [100, 100], [10, 10]],
  [21, [100, 100], [10, 11]],
  [20, [0, 100], [1, 19]],
  [20, [3, 100, 100], [3, 8, 9]],
  [20, [0, 0], [10, 10]],
  [20, [2, 4], [9, 11]],
  [1, [0, 5], [0, 1]],
  [2, [1, 1, 1], [0, 1, 1]],
  [100_000, [40_000, 2, 90_000], [40_000, 2, 59_998]],
])('%d a second for needs of %j: %j', (perSecond, needs, shares) => {
  expect(fairShares(perSecond, needs)).toEqual(shares)
})

test.each([
  ['who is alone has all', { inUse: 0, need: 0 }, [], 20, 20],
  ['who comes later gets what is free, or one', { inUse: 0, need: 20 }, [{ share: 20, need: 20 }], 1, 1],
  ['but one more than there are is the most', { inUse: 0, need: 20 }, [{ share: 21, need: 20 }], 0, 0],
  [
    'who has more than its share uses less, and holds it until it renews',
    { inUse: 20, need: 20 },
    [{ share: 0, need: 20 }],
    10,
    20,
  ],
  ['then it is free', { inUse: 10, need: 20 }, [{ share: 0, need: 20 }], 10, 10],
  ['who needs more gets what another has given up', { inUse: 10, need: 20 }, [{ share: 1, need: 0 }], 19, 19],
  ['what was leased meanwhile is not its own any more', { inUse: 20, need: 20 }, [{ share: 15, need: 20 }], 5, 5],
])('%s', (_, own, others, granted, share) => {
  expect(renewedShare({ perSecond: 20, ...own }, [...others, undefined])).toEqual({ granted, share })
})
