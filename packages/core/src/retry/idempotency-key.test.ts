import { readIdempotencyKey } from './idempotency-key.ts'

test.each([
  ['not given', undefined, undefined],
  ['empty', '', undefined],
  ['white space', ' \t\u00a0\u3000 ', undefined],
  ['one character', '7', '7'],
  ['white space around it does not count', ' order 7\n', 'order 7'],
  ['any script and symbol', 'Grüße ключ 鍵 €😀"\\;&', 'Grüße ключ 鍵 €😀"\\;&'],
  ['255 characters', 'k'.repeat(255), 'k'.repeat(255)],
  ['255 characters beyond U+FFFF', '😀'.repeat(255), '😀'.repeat(255)],
  ['256 characters', 'k'.repeat(256), 'unusable'],
  ['256 characters beyond U+FFFF', '😀'.repeat(256), 'unusable'],
  ['U+0000', 'a\u0000', 'unusable'],
  ['a line break inside', 'a\nb', 'unusable'],
  ['a C1 control', 'a\u0085b', 'unusable'],
  ['a zero width space', 'a\u200bb', 'unusable'],
  ['a line separator inside', 'a\u2028b', 'unusable'],
  ['half a character', 'a\ud83d', 'unusable'],
])('%s', (_what, given, read) => {
  expect(readIdempotencyKey(given)).toBe(read)
})
