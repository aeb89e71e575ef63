import { sortedList } from './sorted-list.ts'

test('a list stays in order after any additions and removals, and equal items keep the order of their addition', () => {
  const list = sortedList<readonly [number, number]>(([a], [b]) => a - b)
  let expected: (readonly [number, number])[] = []
  let seed = 7
  for (let i = 0; i < 4000; i++) {
    seed = (seed * 48_271) % 2_147_483_647
    const item = [seed % 500, i] as const
    if (seed % 3 > 0 || expected.length === 0) {
      list.add(item)
      expected.push(item)
      continue
    }
    const first = expected.reduce((least, one) => (one[0] < least[0] ? one : least))
    expect(list.first()).toBe(first)
    expect(list.takeFirst()).toBe(first)
    expected = expected.filter((one) => one !== first)
    if (expected.length > 300) {
      const old = list.takeAll(([key]) => key % 2 === 0, 100)
      expect(old.length).toBeLessThanOrEqual(100)
      expect(old.every(([key]) => key % 2 === 0)).toBe(true)
      expected = expected.filter((one) => !old.includes(one))
    }
    expect(list.size).toBe(expected.length)
  }
})
