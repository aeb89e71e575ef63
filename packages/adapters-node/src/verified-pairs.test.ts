import { instant, secondsAfter } from '@gateway/core/time'
import { verifiedPairs } from './verified-pairs.ts'

const start = instant(Date.UTC(2026, 9, 18))

test('a pair is remembered for its time after its last use, and looking it up is not a use', () => {
  const pairs = verifiedPairs(60, 10)
  pairs.renew('a', 'stored', start)
  expect(pairs.against('a', secondsAfter(start, 59.999))).toBe('stored')
  expect(pairs.against('b', start)).toBeUndefined()
  pairs.renew('a', 'stored', secondsAfter(start, 59))
  expect(pairs.against('a', secondsAfter(start, 118.999))).toBe('stored')
  expect(pairs.against('a', secondsAfter(start, 119))).toBeUndefined()
})

test('a request that began slightly before the last use finds its pair', () => {
  const pairs = verifiedPairs(60, 10)
  pairs.renew('a', 'stored', start)
  expect(pairs.against('a', secondsAfter(start, -0.01))).toBe('stored')
})

test('a clock that is set back does not extend the validity of a pair', () => {
  const pairs = verifiedPairs(60, 10)
  pairs.renew('a', 'stored', start)
  expect(pairs.against('a', secondsAfter(start, -3600))).toBeUndefined()
})

test('beyond the maximum the least recently used pair is forgotten', () => {
  const pairs = verifiedPairs(60, 2)
  for (const pair of ['a', 'b', 'a', 'c']) pairs.renew(pair, 'stored', start)
  expect(['a', 'b', 'c'].map((pair) => pairs.against(pair, start))).toEqual(['stored', undefined, 'stored'])
})
