import { bodyOf, gsm7Alphabet, gsm7Extension, type Body } from '@gateway/core/messages'
import fc from 'fast-check'
import { decodeText } from './decode-text.ts'
import { encodeBody, messageReferences, type TextSettings } from './encode-body.ts'
import { readCodedText } from '@gateway/core/inbox'
import { encodeGsm7, packSeptets, unpackSeptets } from './gsm7.ts'

const bodyFor = (text: string): Body => {
  const body = bodyOf(text)
  if (typeof body === 'string') throw new Error(body)
  return body
}
const encoded = (text: string, settings: Partial<TextSettings> = {}) =>
  encodeBody(bodyFor(text), { alphabet: 'gsm-7', long: 'udh-8', ...settings }, (limit) => 0x1234 % limit)
const decodeGsm7 = (octets: Uint8Array) => readCodedText({ coding: 'gsm-7', octets: hex(octets) })
const hex = (octets: Uint8Array) => Buffer.from(octets).toString('hex')

describe('GSM 7-bit (3GPP TS 23.038, 6.2.1; checked by hand and against the gsm0338 table of Perl)', () => {
  test.each([
    ['hello', '68656c6c6f'],
    ['@£$¥èéùìòÇ', '00010203040506070809'],
    ['\nØø\rÅåΔ_ΦΓ', '0a0b0c0d0e0f10111213'],
    ['ΛΩΠΨΣΘΞÆæßÉ', '1415161718191a1c1d1e1f'],
    ['¤¡ÄÖÑÜ§¿äöñüà', '24405b5c5d5e5f607b7c7d7e7f'],
    ['\f^{}\\[~]|€', '1b0a1b141b281b291b2f1b3c1b3d1b3e1b401b65'],
  ])('%j is %s', (text, octets) => {
    expect(hex(encodeGsm7(text))).toBe(octets)
    expect(decodeGsm7(Buffer.from(octets, 'hex'))).toBe(text)
  })

  test('a character of neither table is never replaced', () => {
    for (const text of ['ę', '`', '\x1b', '☺', '\ud83d']) expect(() => encodeGsm7(text)).toThrow('alphabet')
  })

  test.each([
    ['1b41', 'A', 'an unknown extension is read in the default alphabet'],
    ['1b1b', ' ', 'a second escape'],
    ['411b', 'A', 'an escape at the end'],
    ['41e9', 'Aé', 'an octet that is no septet'],
  ])('%s is read as %j: %s', (octets, text) => expect(decodeGsm7(Buffer.from(octets, 'hex'))).toBe(text))

  test.each([
    ['hello', 'e8329bfd06'],
    ['hellohello', 'e8329bfd4697d9ec37'],
    ['1234567', '31d98c56b3dd1a'], // with a carriage return in the last seven bits
  ])('%j is packed as %s', (text, octets) => {
    expect(hex(packSeptets(encodeGsm7(text)))).toBe(octets)
    expect(decodeGsm7(unpackSeptets(Buffer.from(octets, 'hex')))).toBe(text)
  })

  const characters = Array.from(gsm7Alphabet + gsm7Extension).filter((character) => character !== '\x1b')
  test('every text is decoded unchanged, also packed after a header of any length', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...characters), { maxLength: 160 }),
        fc.integer({ min: 0, max: 6 }),
        (some, bits) => {
          const text = `${some.join('')}.`
          const septets = encodeGsm7(text)
          expect(decodeGsm7(septets)).toBe(text)
          expect(decodeGsm7(unpackSeptets(packSeptets(septets, bits), bits))).toBe(text)
        },
      ),
    )
  })
})

describe('user data', () => {
  test.each([
    ['one part', 'Hi €', {}, [['00', '4869201b65']]],
    ['UCS-2', 'Привет', {}, [['08', '041f04400438043204350442']]],
    ['an emoji', '😀', {}, [['08', 'd83dde00']]],
    ['Latin-1', 'é{', { alphabet: 'latin-1' }, [['03', 'e97b']]],
    ['beyond Latin-1', '€', { alphabet: 'latin-1' }, [['08', '20ac']]],
    ['packed', 'hello', { alphabet: 'gsm-7-packed' }, [['00', 'e8329bfd06']]],
  ] as const)('%s', (_, text, settings, expected) => {
    const segments = encoded(text, settings)
    expect(segments.map(({ dataCoding, octets }) => [dataCoding.toString(16).padStart(2, '0'), hex(octets)])).toEqual(
      expected,
    )
    expect(segments.every(({ hasHeader, isPayload, sar }) => !hasHeader && !isPayload && sar === undefined)).toBe(true)
  })

  test.each([
    ['gsm-7', 'hello', '10', '68656c6c6f'],
    ['gsm-7-packed', 'hello', '10', 'e8329bfd06'],
    ['latin-1', 'é', '10', '05'],
    ['latin-1', '€', '10', '1b65'],
    ['gsm-7', 'ş', '18', '015f'],
    ['latin-1', 'ş', '18', '015f'],
  ] as const)('%s: %j as flash is data_coding %s, %s (3GPP TS 23.038, 4)', (alphabet, text, coding, octets) => {
    const segments = encodeBody(bodyFor(text), { alphabet, long: 'udh-8' }, () => 1, true)
    expect(segments.map((one) => [one.dataCoding.toString(16), hex(one.octets)])).toEqual([[coding, octets]])
  })

  test.each([
    ['udh-8', ['050003340201', '050003340202'], 153],
    ['udh-16', ['06080412340201', '06080412340202'], 152],
  ] as const)('%s: the header of each part (3GPP TS 23.040, 9.2.3.24)', (long, headers, first) => {
    const segments = encoded('a'.repeat(200), { long })
    expect(segments.map(({ octets }) => hex(octets.subarray(0, long === 'udh-8' ? 6 : 7)))).toEqual(headers)
    expect(segments.map(({ octets }) => octets.length - (long === 'udh-8' ? 6 : 7))).toEqual([first, 200 - first])
    expect(segments.every(({ hasHeader }) => hasHeader)).toBe(true)
  })

  test('packed parts begin at a septet boundary after their header', () => {
    const [first] = encoded('a'.repeat(200), { alphabet: 'gsm-7-packed' })
    expect(first?.octets.length).toBe(140)
    // 48 bits of header, one fill bit, then 1100001 from the lowest bit on.
    expect(hex(first?.octets.subarray(0, 9) ?? Buffer.of())).toBe('050003340201c2e170')
  })

  test('sar: the parts have no header, and TLVs give their reference, number and count', () => {
    const segments = encoded('ж'.repeat(71), { long: 'sar' })
    expect(segments.map(({ octets, sar }) => [octets.length, sar])).toEqual([
      [134, { reference: 0x1234, number: 1, of: 2 }],
      [8, { reference: 0x1234, number: 2, of: 2 }],
    ])
  })

  test('payload: the text is undivided', () => {
    const [only, ...others] = encoded('a'.repeat(918), { long: 'payload' })
    expect([only?.octets.length, only?.isPayload, others]).toEqual([918, true, []])
  })

  test('parts do not split an escape pair or a surrogate pair, and are not too long', () => {
    for (const long of ['udh-8', 'udh-16', 'sar'] as const) {
      for (const shift of [0, 1, 2]) {
        const header = { 'udh-8': 6, 'udh-16': 7, sar: 0 }[long]
        const gsm = `${'a'.repeat(150 + shift)}${'€'.repeat(40)}`
        const parts = encoded(gsm, { long }).map(({ octets }) => octets.subarray(header))
        expect(parts.map((octets) => decodeGsm7(octets)).join('')).toBe(gsm)
        expect(parts.every((octets) => octets.at(-1) !== 0x1b && octets.length <= 153)).toBe(true)
        const emoji = `${'a'.repeat(64 + shift)}${'😀'.repeat(20)}`
        const halves = encoded(emoji, { long }).map(({ octets }) => decodeText(8, octets.subarray(header), 'gsm-7'))
        expect(halves.join('')).toBe(emoji)
        expect(halves.every((text) => text !== undefined && !/\p{Surrogate}/u.test(text))).toBe(true)
      }
    }
  })

  test('with a header of six octets the number of parts is the number charged', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '€', '{'), minLength: 1, maxLength: 400 }), (text) => {
        const body = bodyOf(text)
        if (typeof body === 'object') expect(encoded(text)).toHaveLength(body.parts)
      }),
    )
  })
})

test.each([
  [0, '4869', 'gsm-7', 'Hi'],
  [0, 'e9', 'latin-1', 'é'],
  [0, 'e8329bfd06', 'gsm-7-packed', 'hello'],
  [1, '48c9', 'gsm-7', 'HÉ'],
  [3, 'e9', 'gsm-7', 'é'],
  [6, 'b0', 'gsm-7', 'А'],
  [8, '041fd83d', 'gsm-7', 'П\ud83d'],
  [8, '041f04', 'gsm-7', 'П'],
  [0x18, '041f', 'gsm-7', 'П'],
  [0x10, '00', 'gsm-7', '@'],
  [0xf0, '00', 'gsm-7', '@'],
  [0xf5, '00', 'gsm-7', undefined],
  [2, '00', 'gsm-7', undefined],
  [4, '00', 'gsm-7', undefined],
  [0x0f, 'e9', 'gsm-7', 'é'],
  [0x20, '00', 'gsm-7', undefined],
  [0x63, 'e9', 'gsm-7', undefined],
  [0x80, '00', 'gsm-7', '@'],
  [0xd0, '00', 'gsm-7', '@'],
  [0xe0, '041f', 'gsm-7', 'П'],
  [8, 'feff041f', 'gsm-7', 'П'],
  [8, 'fffe1f04', 'gsm-7', 'П'],
  [8, '0053000000', 'gsm-7', 'S'],
] as const)('data_coding %i, %s with %s is %j', (coding, octets, alphabet, text) => {
  expect(decodeText(coding, Buffer.from(octets, 'hex'), alphabet)).toBe(text)
})

test('any bytes in any data_coding are read without an error', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 255 }),
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom('gsm-7' as const, 'gsm-7-packed' as const, 'latin-1' as const),
      (coding, octets, alphabet) => ['string', 'undefined'].includes(typeof decodeText(coding, octets, alphabet)),
    ),
  )
})

test('a reference is repeated for a number only after all others, and does not depend on other numbers', () => {
  const references = messageReferences(() => 65_500)
  const first = Array.from({ length: 256 }, () => references.next('27825550101', 256))
  expect(new Set(first).size).toBe(256)
  expect(references.next('27825550102', 65_536)).toBe(65_501)
  expect(references.next('27825550102', 65_536)).toBe(65_502)
})
