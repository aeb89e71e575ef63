import { describeType, describeValue, idsIn, recipientsIn } from './request.ts'

const recipients = (count: number) => Array.from({ length: count }, (_, i) => ({ mobileNumber: `2782555${1000 + i}` }))

describe('the estimated number of items of a body', () => {
  test.each([1, 50, 1000])('is exact for a send to %s recipients, as text and parsed', (count) => {
    const send = { message: 'Hello', recipients: recipients(count) }
    expect(recipientsIn(JSON.stringify(send, undefined, 2))).toBe(count)
    expect(recipientsIn({ parsed: send })).toBe(count)
  })

  test.each([1, 50, 1000])('is exact for is exact for %s ids, as text and parsed', (count) => {
    const ids = Array.from({ length: count }, (_, i) => 1000 + i)
    expect(idsIn(JSON.stringify(ids))).toBe(count)
    expect(idsIn({ parsed: ids })).toBe(count)
  })

  test('is at least one', () => {
    expect([recipientsIn(''), recipientsIn('{}'), idsIn('[]')]).toEqual([1, 1, 1])
  })
})

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
