import { echoed, listAnswer } from './answer.ts'

test.each([
  ['27825550101', '27825550101'],
  ['a&b;c=d%e', 'a%26b%3Bc%3Dd%25e'],
  ['\r\n\t\u007f', '%0D%0A%09%7F'],
  ['\u0085', '%C2%85'],
  ['é €+"<>', 'é €+"<>'],
])('%j is echoed as %j', (value, text) => {
  expect(echoed(value)).toBe(text)
})

test('every item ends with &, and an empty list is an empty text', () => {
  expect([listAnswer([]), listAnswer(['a=1']), listAnswer(['a=1', 'b=2'])]).toEqual(['', 'a=1&', 'a=1&b=2&'])
})
