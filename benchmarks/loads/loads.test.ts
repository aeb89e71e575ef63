import { addIds, countIds, firstOf, idsOf, type IdRanges } from './id-ranges.ts'
import { numberAt } from './numbers.ts'
import { idsIn, sendRequest } from './send-requests.ts'

test('numbers are 27, a prefix and an ending for which the carrier just delivers, and none comes twice', () => {
  const numbers = Array.from({ length: 20_000 }, (_, n) => numberAt(n * 3500 + (n % 7)))
  expect(new Set(numbers).size).toBe(numbers.length)
  for (const number of numbers) expect(number).toMatch(/^27(?:8[234]|7[234689])\d{5}[0-7]\d$/)
})

test.each(['rest', 'asp', 'xml'] as const)('a %s send differs from the one before in its numbers only', (face) => {
  const request = sendRequest({ face, key: 'key', recipients: 3 })
  const expected = [7, 8, 9].map(numberAt)
  const text = request.from(7).toString()
  expect(expected.map((number) => text.split(number).length)).toEqual([2, 2, 2])
  const without = (wire: string): string => wire.replaceAll(/27\d{9}/g, '')
  expect(without(request.from(100).toString())).toBe(without(text))
  expect(request.from(7).toString()).toBe(text)
})

test('ids are found in the answers of all interfaces, and refusals are not', () => {
  const rest =
    '{"recipients":[{"apiMessageId":12,"x":1},{"acceptError":"LOCKED","apiMessageId":null},{"apiMessageId":13}]}'
  expect(idsIn('rest', rest)).toEqual([12, 13])
  expect(idsIn('asp', '27825550101=12&27825550102=INVALIDNUMBER&27825550103=13&')).toEqual([12, 13])
  expect(idsIn('xml', '<Message><ID>12</ID></Message><Message><ID>OPTEDOUT</ID></Message>')).toEqual([12])
})

test('ranges hold the ids that were added', () => {
  const ranges: IdRanges = []
  addIds(ranges, [5, 6, 7])
  addIds(ranges, [8, 20, 2])
  expect(ranges).toEqual([5, 9, 20, 21, 2, 3])
  expect(countIds(ranges)).toBe(6)
  expect(firstOf(ranges)).toBe(2)
  expect(idsOf(ranges)).toEqual([5, 6, 7, 8, 20, 2])
})
