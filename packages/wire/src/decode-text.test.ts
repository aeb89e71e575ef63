import fc from 'fast-check'
import { percentDecode, trimWhiteSpace } from './decode-text.ts'

test.each([
  ['nothing', '', ''],
  ['plain text', 'Hello, world', 'Hello, world'],
  ['plus signs', '+a++b+', ' a  b '],
  ['an escaped plus sign', '%2B', '+'],
  ['an escaped percent sign, once', '%252B', '%2B'],
  ['both letter cases', '%c3%A9', 'é'],
  ['four bytes', '%F0%9F%98%80', '😀'],
  ['a percent sign at the end', '100%', '100%'],
  ['half an escape', '%4', '%4'],
  ['no digits', '%zz%%41', '%zz%A'],
  ['digits of another script', '%４１', '%４１'],
  ['windows-1252', '%80%E9', '€é'],
  ['one byte of windows-1252 makes all escapes so', '%C3%A9 %E9', 'Ã© é'],
  ['a cut sequence of UTF-8', '%E2%82', 'â‚'],
  ['a sequence that other text parts', '%E2x%82%AC', 'âx‚¬'],
  ['an overlong slash', '%C0%AF', 'À¯'],
  ['a surrogate in UTF-8', '%ED%A0%80', 'í\u00a0€'],
  ['a byte without a character', '%81', '\u0081'],
  ['unescaped text beside windows-1252', '€ %E9', '€ é'],
  ['a nul byte', 'a%00b', 'a\0b'],
  ['line feeds', '%0A%0a', '\n\n'],
  ['an escape after a percent sign', '%%41', '%A'],
  ['a digit and a letter that is none', '%4g%4G', '%4g%4G'],
  ['punctuation of windows-1252', 'it%92s %9F', 'it’s Ÿ'],
  ['windows-1252 and a percent sign at the end', '%E9%', 'é%'],
])('%s', (_, encoded, decoded) => {
  expect(percentDecode(encoded)).toBe(decoded)
})

const text = fc.string({ unit: 'binary', maxLength: 60 })

test('text encoded by encodeURIComponent is decoded, with and without plus signs for spaces', () => {
  fc.assert(
    fc.property(text, (original) => {
      const encoded = encodeURIComponent(original)
      expect(percentDecode(encoded)).toBe(original)
      expect(percentDecode(encoded.replaceAll('%20', '+'))).toBe(original)
    }),
  )
})

test('agrees with decoding the bytes as a whole, for texts of ASCII', () => {
  const piece = fc.oneof(
    fc.constantFrom('a', '%', '+', '%4', '%zz', ' '),
    fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, '0')}`),
    text.map(encodeURIComponent),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const encoded = pieces.join('')
      const bytes = Buffer.from(
        encoded
          .replaceAll('+', ' ')
          .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
        'latin1',
      )
      const isUtf8 = bytes.equals(Buffer.from(bytes.toString()))
      if (isUtf8) expect(percentDecode(encoded)).toBe(bytes.toString())
      else expect(percentDecode(encoded)).toHaveLength(bytes.length)
    }),
  )
})

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
