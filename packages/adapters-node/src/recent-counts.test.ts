import { recentCounts } from './recent-counts.ts'

test('counts start again their time after the first', () => {
  let now = 0
  const counts = recentCounts(60, 10, () => now)
  counts.add('n')
  now = 59_999
  counts.add('n')
  expect([counts.of('n'), counts.of('m')]).toEqual([2, 0])
  now = 60_000
  expect(counts.of('n')).toBe(0)
  counts.add('n')
  expect(counts.of('n')).toBe(1)
})

test('of more keys than the bound the one counted longest ago is forgotten', () => {
  const counts = recentCounts(60, 2)
  for (const key of ['a', 'b', 'a', 'c']) counts.add(key)
  expect(['a', 'b', 'c'].map((key) => counts.of(key))).toEqual([2, 0, 1])
})
