import { isFailure } from './answer.ts'
import { statusOf } from './error-codes.ts'
import { readIds } from './id-array.ts'

const read = (text: string) => readIds(JSON.parse(text), text)

test.each([
  ['[1]', [1]],
  [' [ 3,\t1 ,\r\n3 ] ', [3, 1, 3]],
  ['[9007199254740991]', [9_007_199_254_740_991]],
])('%j is read in order, including repetitions', (text, ids) => {
  expect(read(text)).toEqual(ids)
})

test('a thousand ids are accepted, one more is refused', () => {
  const ids = Array.from({ length: 1001 }, (_, i) => i + 1)
  expect(read(JSON.stringify(ids.slice(1)))).toHaveLength(1000)
  expect(read(JSON.stringify(ids))).toMatchObject({
    code: 'too-many-message-ids',
    errorMessage: expect.stringContaining('1000') as string,
  })
})

test.each([
  '[]',
  '{}',
  '{"0":1}',
  'null',
  '1',
  '"[1]"',
  '[1e3]',
  '[1E3]',
  '[1.0]',
  '[1.5]',
  '["5"]',
  '[null]',
  '[true]',
  '[-1]',
  '[-0]',
  '[0]',
  '[[1]]',
  '[{}]',
  '[9007199254740992]',
  '[9007199254740993]',
  '[99999999999999999999999999]',
  '[1,2,"x"]',
])('%s is answered with 422', (text) => {
  const answer = read(text)
  expect(isFailure(answer) && statusOf(answer.code)).toBe(422)
})

test.each([
  ['{}', 'The body must be an array of message ids; got an object.'],
  ['"5"', 'The body must be an array of message ids; got a string.'],
  ['[7, "5"]', '"5"'],
  ['[7, null]', 'null'],
  ['[7, 1e3]', '1e3'],
  ['[1.5]', '1.5'],
  ['[ 7,9007199254740993 ]', '9007199254740993'],
  ['[99999999999999999999999999]', '99999999999999999999999999'],
  ['[0]', '0'],
  [`[${'9'.repeat(400)}]`, `${'9'.repeat(60)}…`],
])('the refusal of %s quotes the received value: %s', (text, named) => {
  const answer = read(text)
  expect(isFailure(answer) && answer.errorMessage).toMatch(new RegExp(`(^|got )${named.replace(/[.]/g, '\\.')}\\.?$`))
})

test('200 kB of digits are refused quickly', () => {
  const before = process.cpuUsage()
  expect(isFailure(read(`[${'9'.repeat(204_000)}]`))).toBe(true)
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000)
})
