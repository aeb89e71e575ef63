import { instant, secondsAfter, type Instant } from '../../../src/time/instant.ts'
import { useRate } from './accounts.ts'

const start = instant(Date.UTC(2026, 9, 18))
const at = (seconds: number) => secondsAfter(start, seconds)

/** Uses each count at its second. Returns for each one true if it is within the limit, else the seconds to wait. */
function accepted(perSecond: number, ...uses: readonly (readonly [seconds: number, count: number])[]) {
  let paidOff: Instant | undefined
  return uses.map(([seconds, count]) => {
    const used = useRate(paidOff, count, perSecond, at(seconds))
    if ('paidOff' in used) paidOff = used.paidOff
    return 'paidOff' in used ? true : used.overLimitSeconds
  })
}

test.each([
  [
    'a second’s worth at once, and then as much as the time allows',
    2,
    [
      [0, 1],
      [0, 1],
      [0, 1],
      [0.4, 1],
      [0.5, 1],
      [0.5, 1],
    ],
    [true, true, 1, 1, true, 1],
  ],
  [
    'what is not used for long is no more than a second’s worth',
    2,
    [
      [0, 1],
      [60, 1],
      [60, 1],
      [60, 1],
    ],
    [true, true, true, 1],
  ],
  [
    'more than a second’s worth at once, once there is a whole second, and what follows waits for it',
    10,
    [
      [0, 1000],
      [1, 1],
      [98.9, 1],
      [99.1, 1],
    ],
    [true, 99, 1, true],
  ],
  [
    'of what is refused nothing counts',
    1,
    [
      [0, 1],
      [0.9, 1],
      [0.95, 1],
      [1, 1],
    ],
    [true, 1, 1, true],
  ],
  [
    'no more than there is room for',
    10,
    [
      [0, 8],
      [0, 3],
      [0, 2],
    ],
    [true, 1, true],
  ],
] as const)('%s', (_, perSecond, uses, expected) => {
  expect(accepted(perSecond, ...uses)).toEqual(expected)
})

test('within a minute no more than the limit and its burst are consumed, however the requests are divided', () => {
  let paidOff: Instant | undefined
  let sum = 0
  for (let i = 0; i < 6000; i++) {
    const count = 1 + (i % 7)
    const used = useRate(paidOff, count, 20, at(i / 100))
    if (!('paidOff' in used)) continue
    paidOff = used.paidOff
    sum += count
  }
  expect(sum).toBeGreaterThan(60 * 20 - 20)
  expect(sum).toBeLessThanOrEqual(61 * 20)
})
