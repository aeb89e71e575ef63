import { trimWhiteSpace } from './trim.ts'

test.each([
  [' \t\r\n a b \n', 'a b'],
  ['', ''],
  [' \n ', ''],
  ['\u00a0a\u00a0', '\u00a0a\u00a0'],
  ['\u2003a\ufeff', '\u2003a\ufeff'],
  ['\va\f', '\va\f'],
])('%j is trimmed to %j', (text, trimmed) => {
  expect(trimWhiteSpace(text)).toBe(trimmed)
})
