import { elementAt, fromArray, fromTimes, numbersFromArray, timestamp, type WrittenArray } from './arrays.ts'

const written = <Element>(text: string | null) => text as WrittenArray<Element> | null

test.each([
  [null, []],
  ['{}', []],
  ['{0}', [0]],
  ['{1,-1,106,-107}', [1, -1, 106, -107]],
  ['{9007199254740991,-9007199254740991,5}', [9007199254740991, -9007199254740991, 5]],
])('the numbers of %s', (text, numbers) => {
  expect(fromArray(written<number>(text))).toEqual(numbers)
})

test('phone numbers keep their zeros', () => {
  expect(numbersFromArray(written('{0012,27820000001}'))).toEqual(['0012', '27820000001'])
  expect(numbersFromArray(written('{}'))).toEqual([])
  expect(numbersFromArray(written(null))).toEqual([])
})

test('an element beyond the end of an array is an error', () => {
  expect(elementAt(['a', 'b'], 1)).toBe('b')
  expect(() => elementAt(['a', 'b'], 2)).toThrow('element 2 is missing in an array of 2')
})

test.each([
  [Date.parse('0000-12-31T22:00:00.000Z'), '0001-12-31T22:00:00.000Z BC'],
  [Date.parse('0001-01-01T00:00:00.000Z'), '0001-01-01T00:00:00.000Z'],
  [Date.UTC(2026, 9, 18, 8, 0, 0, 5), '2026-10-18T08:00:00.005Z'],
])('the time %d is written as PostgreSQL reads it', (at, text) => {
  expect(timestamp(at)).toBe(text)
})

test('times are truncated to the millisecond, before and after 2000', () => {
  const bytes = Buffer.alloc(24)
  bytes.writeBigInt64BE(0n, 0)
  bytes.writeBigInt64BE(848_526_245_123_999n, 8)
  bytes.writeBigInt64BE(-1n, 16)
  const year2000 = Date.UTC(2000, 0)
  expect(fromTimes(bytes)).toEqual([year2000, year2000 + 848_526_245_123, year2000 - 1])
  expect(fromTimes(null)).toEqual([])
})
