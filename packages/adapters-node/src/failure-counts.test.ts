import { instant, secondsAfter } from '@gateway/core'
import { failureCounts } from './failure-counts.ts'

const start = instant(Date.UTC(2026, 9, 18))
const at = (seconds: number) => secondsAfter(start, seconds)

test('so many failures within any minute, not only within one that begins with the first of them', () => {
  const failures = failureCounts(3, 60)
  const isCounted = (seconds: number) => typeof failures.count('anna', at(seconds)) === 'function'
  expect([0, 30, 59].map(isCounted)).toEqual([true, true, true])
  expect(failures.count('anna', at(59.5))).toEqual({ retryAfterSeconds: 1 })
  expect([60, 61, 89, 90, 91].map(isCounted)).toEqual([true, false, false, true, false])
})

test('the wait is told in whole seconds, after which there is room, and refused attempts do not make it longer', () => {
  const failures = failureCounts(1, 60)
  failures.count('anna', at(0))
  for (let i = 0; i < 100; i++) expect(failures.count('anna', at(0.5))).toEqual({ retryAfterSeconds: 60 })
  expect(failures.count('anna', at(60))).toBeInstanceOf(Function)
})

test('what others counted counts too, in the place of what was learnt of them before', () => {
  const failures = failureCounts(3, 60)
  failures.count('anna', at(10))
  failures.learn('anna', [at(30), at(0)])
  expect(failures.count('anna', at(31))).toEqual({ retryAfterSeconds: 29 })
  expect(failures.count('anna', at(60))).toBeInstanceOf(Function)
  expect(failures.count('anna', at(60))).toEqual({ retryAfterSeconds: 10 })
  failures.learn('anna', [])
  expect(failures.count('anna', at(60))).toBeInstanceOf(Function)
})

test('where all together counted more than so many, the wait ends when less than so many are left', () => {
  const failures = failureCounts(2, 60)
  failures.count('anna', at(0))
  failures.learn('anna', [at(20), at(5), at(10), at(15)])
  expect(failures.count('anna', at(20))).toEqual({ retryAfterSeconds: 55 })
  expect(failures.count('anna', at(75))).toBeInstanceOf(Function)
})

test('of what others counted no more is kept than decides', () => {
  const failures = failureCounts(2, 60)
  failures.learn('anna', Array.from({ length: 1000 }, () => at(0)).concat(at(1)))
  expect(failures.count('anna', at(2))).toEqual({ retryAfterSeconds: 58 })
})

test('what others counted stays known when a failure here is taken back', () => {
  const failures = failureCounts(1, 60)
  const takeBack = failures.count('anna', at(0)) as () => void
  failures.learn('anna', [at(1)])
  takeBack()
  expect(failures.count('anna', at(2))).toEqual({ retryAfterSeconds: 59 })
})

test('what is taken back makes room for one, however often it is taken back', () => {
  const failures = failureCounts(2, 60)
  failures.count('anna', at(0))
  const takeBack = failures.count('anna', at(1)) as () => void
  takeBack()
  takeBack()
  expect(failures.count('anna', at(1.5))).toBeInstanceOf(Function)
  expect(failures.count('anna', at(2))).toEqual({ retryAfterSeconds: 58 })
})

test('a clock that is set back locks nobody out', () => {
  const failures = failureCounts(1, 60)
  failures.count('anna', at(0))
  expect(failures.count('anna', at(-3600))).toBeInstanceOf(Function)
})

test('keys do not notice each other, and of more than the bound the one that failed longest ago is forgotten', () => {
  const failures = failureCounts(1, 60, 2)
  for (const key of ['a', 'b', 'c']) expect(failures.count(key, at(0))).toBeInstanceOf(Function)
  expect(failures.count('b', at(1))).toHaveProperty('retryAfterSeconds')
  expect(failures.count('a', at(1))).toBeInstanceOf(Function)
})
