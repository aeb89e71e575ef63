import { AdaptiveLimit } from './adaptive-limit.ts'

const settings = { min: 4, max: 100, fastMilliseconds: 250 }

/** Begins operations until there is no room, and returns their number. */
function fill(limit: AdaptiveLimit): number {
  let count = 0
  for (; limit.hasRoom; count++) limit.begin()
  return count
}

const endAll = (limit: AdaptiveLimit, count: number, isLate: boolean, milliseconds: number, now: number): void => {
  for (let at = 0; at < count; at++) limit.end(isLate, milliseconds, now)
}

test('late operations of one second halve the limit once, down to the minimum', () => {
  const limit = new AdaptiveLimit(settings)
  let count = fill(limit)
  expect(count).toBe(100)
  for (const [second, expected] of [50, 25, 13, 7, 4, 4].entries()) {
    endAll(limit, count, true, 900, second * 2000)
    count = fill(limit)
    expect(count).toBe(expected)
  }
})

test('fast operations raise the limit again, and slow ones leave it', () => {
  const limit = new AdaptiveLimit(settings)
  endAll(limit, fill(limit), true, 900, 0)
  const reduced = fill(limit)
  endAll(limit, reduced, false, 500, 3000)
  expect(fill(limit)).toBe(reduced)
  endAll(limit, reduced, false, 10, 4000)
  expect(fill(limit)).toBeGreaterThan(reduced)
})

test('the limit never exceeds its maximum', () => {
  const limit = new AdaptiveLimit(settings)
  for (let round = 0; round < 10; round++) endAll(limit, fill(limit), false, 1, round)
  expect(fill(limit)).toBe(100)
})
