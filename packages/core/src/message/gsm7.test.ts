import { septets, septetsOfUnit } from './gsm7.ts'

// Every character of the basic plane that perl's Encode::GSM0338, an implementation not ours, encodes, and in how many bytes.
const inDefaultAlphabet =
  '000a 000d 0020-005a 005f 0061-007a 00a1 00a3-00a5 00a7 00bf 00c4-00c7 00c9 00d1 00d6 00d8 00dc 00df-00e0 00e4-00e6 ' +
  '00e8-00e9 00ec 00f1-00f2 00f6 00f8-00f9 00fc 0393-0394 0398 039b 039e 03a0 03a3 03a6 03a8-03a9'
const inExtension = '000c 005b-005e 007b-007e 20ac'

const codesIn = (ranges: string): readonly number[] =>
  ranges.split(' ').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map((hex) => Number.parseInt(hex, 16))
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  })

test('every code unit has the septets that another implementation gives it, all 65536 of them', () => {
  const expected = new Uint8Array(65_536)
  for (const code of codesIn(inDefaultAlphabet)) expected[code] = 1
  for (const code of codesIn(inExtension)) expected[code] = 2
  const differing = Array.from(expected.keys()).filter((code) => septetsOfUnit(code) !== expected[code])
  expect(differing).toEqual([])
})

test('127 characters take one septet and 10 take two', () => {
  const counts = Array.from({ length: 65_536 }, (_, code) => septetsOfUnit(code))
  expect(counts.filter((count) => count === 1)).toHaveLength(127)
  expect(counts.filter((count) => count === 2)).toHaveLength(10)
})

describe('septets', () => {
  test.each<[string, string, number | undefined]>([
    ['nothing', '', 0],
    ['an at sign, which has code 0', '@', 1],
    ['a euro sign', '€', 2],
    ['the whole extension table', '^{}\\[~]|€\f', 20],
    ['line feed and carriage return', '\r\n', 2],
    ['capital cedilla, which is in the alphabet', 'Ç', 1],
    ['small cedilla, which is not', 'ç', undefined],
    ['an accent that is not in the alphabet', 'caffè è là á', undefined],
    ['Greek capitals with a code of their own', 'ΔΦΓΛΩΠΨΣΘΞ', 10],
    ['a Greek capital that only looks Latin', 'Α', undefined],
    ['a tab', '\t', undefined],
    ['the escape itself', '\u001b', undefined],
    ['U+0000', '\0', undefined],
    ['a lone surrogate', '\ud83d', undefined],
    ['a pair of surrogates', '😀', undefined],
    ['one character that does not fit, at the end', `${'a'.repeat(917)}ж`, undefined],
  ])('%s', (_, text, expected) => {
    expect(septets(text)).toBe(expected)
  })
})
