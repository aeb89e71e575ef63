import fc from 'fast-check'
import { decodeText, encodeGsm, encodeUcs2, findOutside } from './alphabets.ts'

test.each([
  ['gsm', '00', '@'],
  ['gsm', '1b65', '€'],
  ['gsm', '1b41', 'A'],
  ['gsm', '1b1b', ' '],
  ['ascii', '40240a', '@$\n'],
  ['latin1', 'a3e9', '£é'],
  ['ucs2', '041f', 'П'],
  ['ucs2', 'feff041f', 'П'],
  ['ucs2', 'fffe1f04', 'П'],
  ['ucs2', 'd83dde00', '😀'],
  ['ucs2', '', ''],
] as const)('%s: %s is %j', (alphabet, octets, text) => {
  expect(decodeText(Buffer.from(octets, 'hex'), alphabet)).toBe(text)
})

test.each([
  ['gsm', '4180', 1],
  ['gsm', '411b', 1],
  ['ascii', '41a3', 1],
  ['ascii', '00', 0],
  ['ascii', '7f', 0],
  ['latin1', '4180', 1],
  ['latin1', '414200', 2],
  ['ucs2', '041f04', 2],
] as const)('%s: %s has an octet outside the alphabet at %i', (alphabet, octets, at) => {
  expect(decodeText(Buffer.from(octets, 'hex'), alphabet)).toEqual({ alphabet, at })
})

test('an escape at the end of a part is inside the alphabet, because the next part may have its character', () => {
  expect(findOutside(Buffer.from('411b', 'hex'), 'gsm')).toBeUndefined()
})

test('an encoded text is decoded to the same text', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(decodeText(encodeUcs2(`a${text}`), 'ucs2')).toBe(`a${text}`)
      const gsm = encodeGsm(text)
      if (gsm !== undefined) expect(decodeText(gsm, 'gsm')).toBe(text)
    }),
  )
})

test('a text outside GSM 7-bit is not encoded', () => {
  expect(encodeGsm('П')).toBeUndefined()
})
