import { describeValue, describeType } from './received.ts'

test.each<[unknown, string, string]>([
  ['a', '"a"', 'a string'],
  ['x'.repeat(61), `"${'x'.repeat(60)}…"`, 'a string'],
  ['a\0"', '"a\\u0000\\""', 'a string'],
  [5, '5', 'a number'],
  [1.5, '1.5', 'a number'],
  [Infinity, 'a number that is too large', 'a number'],
  [null, 'null', 'null'],
  [true, 'true', 'true'],
  [[], 'an empty array', 'an array'],
  [[1, 2], 'an array of 2', 'an array'],
  [{}, 'an object', 'an object'],
  [{ writtenAs: '1.0' }, '1.0', '1.0'],
])('%j is described as %s, and its type as %s', (value, description, type) => {
  expect([describeValue(value), describeType(value)]).toEqual([description, type])
})
