import { instant, secondsAfter } from '@gateway/core'
import { verifiedPairs } from './verified-pairs.ts'

const start = instant(Date.UTC(2026, 9, 18))

test('a pair is remembered for its time, counted from when it was right and not from when it was asked for', () => {
  const pairs = verifiedPairs(60, 10)
  pairs.add('a', start)
  expect(pairs.has('a', secondsAfter(start, 59.999))).toBe(true)
  expect(pairs.has('a', secondsAfter(start, 60))).toBe(false)
  expect(pairs.has('b', start)).toBe(false)
})

test('a clock that is set back makes no pair last longer', () => {
  const pairs = verifiedPairs(60, 10)
  pairs.add('a', start)
  expect(pairs.has('a', secondsAfter(start, -3600))).toBe(false)
})

test('of more pairs than the bound the one that was not used longest is forgotten', () => {
  const pairs = verifiedPairs(60, 2)
  pairs.add('a', start)
  pairs.add('b', start)
  expect(pairs.has('a', start)).toBe(true)
  pairs.add('c', start)
  expect(['a', 'b', 'c'].map((digest) => pairs.has(digest, start))).toEqual([true, false, true])
})
