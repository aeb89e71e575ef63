import { decodePercent } from './percent-decoding.ts'

test.each([
  ['plain', 'plain'],
  ['', ''],
  ['a+b%20c', 'a b c'],
  ['%2B', '+'],
  ['100%', '100%'],
  ['100%25', '100%'],
  ['%', '%'],
  ['%4', '%4'],
  ['%zz%41', '%zzA'],
  ['%4g%4G', '%4g%4G'],
  ['%%41', '%A'],
  ['%0A%0a', '\n\n'],
  ['%00', '\0'],
  ['%E2%82%AC', '€'],
  ['%e2%82%ac', '€'],
  ['\u00e2\u0082\u00ac', '€'],
  ['%F0%9F%98%80', '😀'],
])('%j stands for %j in UTF-8', (raw, text) => {
  expect(decodePercent(raw)).toBe(text)
})

test.each([
  ['caf%E9', 'café'],
  ['caf\u00e9', 'café'],
  ['%80', '€'],
  ['it%92s %9F', 'it’s Ÿ'],
  ['%E2%82', 'â‚'],
  ['%ED%A0%BD', 'í\u00a0½'],
  ['%C0%80', 'À€'],
  ['%E9%', 'é%'],
])('%j is no UTF-8 and stands for %j in windows-1252', (raw, text) => {
  expect(decodePercent(raw)).toBe(text)
})
