import fc from 'fast-check'
import {
  bodyOf,
  costlyCharacters,
  dropUnseen,
  partsOf,
  replaceLookAlikes,
  septets,
  septetsOfUnit,
  type Body,
} from './body.ts'

const a = (count: number) => 'a'.repeat(count)
const zhe = (count: number) => 'ж'.repeat(count)

describe('a text in GSM 7-bit', () => {
  test.each<[string, string, number | 'too-long']>([
    ['one character', 'a', 1],
    ['160 septets', a(160), 1],
    ['161 septets', a(161), 2],
    ['160 septets that end with an escape pair', `${a(158)}€`, 1],
    ['160 characters of 161 septets', `${a(159)}€`, 2],
    ['80 euro signs', '€'.repeat(80), 1],
    ['81 euro signs', '€'.repeat(81), 2],
    ['306 septets', a(306), 2],
    ['307 septets', a(307), 3],
    ['306 septets with an escape pair over the border of the parts', `${a(152)}€${a(152)}`, 3],
    ['306 septets with an escape pair up to the border', `${a(151)}€${a(153)}`, 2],
    ['918 septets', a(918), 6],
    ['918 septets with one pair over a border', `${a(152)}€${a(764)}`, 7],
    ['918 septets of euro signs', '€'.repeat(459), 7],
    ['919 septets', a(919), 'too-long'],
    ['460 euro signs, 920 septets', '€'.repeat(460), 'too-long'],
    ['917 septets and an escape pair', `${a(917)}€`, 'too-long'],
    ['form feeds, two septets each', `a${'\f'.repeat(80)}`, 2],
  ])('%s', (_, text, expected) => {
    const body = bodyOf(text)
    expect(body).toEqual(expected === 'too-long' ? expected : { text, encoding: 'gsm-7', parts: expected })
  })
})

describe('a text in UCS-2', () => {
  test.each<[string, string, number | 'too-long']>([
    ['one character', 'ж', 1],
    ['70 code units', zhe(70), 1],
    ['71 code units', zhe(71), 2],
    ['35 emoji', '😀'.repeat(35), 1],
    ['36 emoji', '😀'.repeat(36), 2],
    ['134 code units', zhe(134), 2],
    ['134 code units with a surrogate pair over the border of the parts', `${zhe(66)}😀${zhe(66)}`, 3],
    ['134 code units with a surrogate pair up to the border', `${zhe(65)}😀${zhe(67)}`, 2],
    ['402 code units', zhe(402), 6],
    ['403 code units', zhe(403), 'too-long'],
    ['402 code units of emoji, which need a seventh part', '😀'.repeat(201), 'too-long'],
    ['396 code units of emoji, 33 in each part', '😀'.repeat(198), 6],
    ['a single character outside the alphabet', `${a(70)}á`, 2],
    ['a control character', 'a\u0007', 1],
    ['the escape', 'a\u001b', 1],
    ['a family joined by zero-width joiners', '👨‍👩‍👧', 1],
  ])('%s', (_, text, expected) => {
    const body = bodyOf(text)
    expect(body).toEqual(expected === 'too-long' ? expected : { text, encoding: 'ucs-2', parts: expected })
  })
})

describe('a text with look-alikes', () => {
  test.each<[string, string, Body | 'too-long' | 'no-message']>([
    ['is sent in GSM 7-bit with them replaced', '“It’s”…', { text: '"It\'s"...', encoding: 'gsm-7', parts: 1 }],
    ['counts what replaces them', `${a(158)}…`, { text: `${a(158)}...`, encoding: 'gsm-7', parts: 2 }],
    ['is too long by what replaces them', `${a(916)}…`, 'too-long'],
    ['is not too long by what is left out', `${a(918)}\u200b`, { text: a(918), encoding: 'gsm-7', parts: 6 }],
    ['keeps them where it needs UCS-2 all the same', '«Ж»…', { text: '«Ж»…', encoding: 'ucs-2', parts: 1 }],
    ['counts each as one character in UCS-2', `${zhe(69)}…`, { text: `${zhe(69)}…`, encoding: 'ucs-2', parts: 1 }],
    [
      'keeps what joins characters in UCS-2',
      'Ж\u200d👍\u2060',
      { text: 'Ж\u200d👍\u2060', encoding: 'ucs-2', parts: 1 },
    ],
  ])('%s', (_, text, expected) => {
    expect(bodyOf(text)).toEqual(expected)
  })
})

describe("'no-message' is", () => {
  test.each<[string, string]>([
    ['an empty text', ''],
    ['spaces', '   '],
    ['line breaks', '\r\n\n'],
    ['a form feed', '\f'],
    ['a tab', '\t'],
    ['a non-breaking space', '\u00a0'],
    ['a space that no table has', '\u1680'],
    ['zero-width spaces', '\u200b\u200b'],
    ['a byte order mark', '\ufeff'],
    ['U+0000', '\0'],
    ['a text with U+0000', 'a\0b'],
    ['a text with a lone high surrogate', 'a\ud83d'],
    ['a text with a lone low surrogate', '\ude00a'],
    ['surrogates in the wrong order', '\ude00\ud83d'],
    ['spaces, and too many of them', ' '.repeat(1000)],
    ['a text that is too long and has U+0000 at its end', `${a(1000)}\0`],
    ['a text that is too long and has a lone surrogate at its end', `${zhe(1000)}\ud83d`],
  ])('%s', (_, text) => {
    expect(bodyOf(text)).toBe('no-message')
  })
})

describe('partsOf', () => {
  test.each<[string, string, readonly string[]]>([
    ['one part', a(160), [a(160)]],
    ['parts of 153', a(161), [a(153), a(8)]],
    ['an escape pair moved to the next part', `${a(152)}€${a(152)}`, [a(152), `€${a(151)}`, 'a']],
    ['an escape pair up to the border', `${a(151)}€${a(10)}`, [`${a(151)}€`, a(10)]],
    ['parts of 67', zhe(71), [zhe(67), zhe(4)]],
    ['a surrogate pair moved to the next part', `${zhe(66)}😀${zhe(5)}`, [zhe(66), `😀${zhe(5)}`]],
  ])('%s', (_, text, expected) => {
    const body = bodyOf(text)
    if (typeof body === 'string') throw new Error(body)
    expect(partsOf(body)).toEqual(expected)
  })
})

describe('any text', () => {
  const unit = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('a', 'b', ' ', '€', '[', '\n') },
    { weight: 1, arbitrary: fc.constantFrom('“', '…', '\u200b', 'e\u0301', 'ж', '😀', '\0', '\ud83d', '\ude00') },
  )
  const gsm = fc.string({ unit: fc.constantFrom('a', '€', '@', '~'), minLength: 100, maxLength: 1000 })
  const wide = fc.string({ unit: fc.constantFrom('ж', '😀', '…', 'a'), minLength: 30, maxLength: 450 })
  const text = fc.oneof(fc.string({ unit, maxLength: 1000 }), gsm, wide, fc.string({ unit: 'binary' }))

  const property = (check: (body: Body, text: string) => void) =>
    fc.assert(
      fc.property(text, (text) => {
        const body = bodyOf(text)
        if (typeof body !== 'string') check(body, text)
      }),
      { numRuns: 500 },
    )

  test('that has a body: the text of the body has the same body', () => {
    property((body) => expect(bodyOf(body.text)).toEqual(body))
  })

  test('has as many parts as are charged, and the parts joined are the text', () => {
    property((body) => {
      const parts = partsOf(body)
      expect(parts).toHaveLength(body.parts)
      expect(parts.join('')).toBe(body.text)
    })
  })

  test('has no part that is empty, too long, or ends inside a surrogate pair', () => {
    property((body) => {
      const max = body.encoding === 'gsm-7' ? [160, 153] : [70, 67]
      for (const part of partsOf(body)) {
        const length = body.encoding === 'gsm-7' ? (septets(part) ?? Infinity) : part.length
        expect(length).toBeGreaterThan(0)
        expect(length).toBeLessThanOrEqual((body.parts === 1 ? max[0] : max[1]) ?? 0)
        expect(part).not.toMatch(/\p{Surrogate}/u)
      }
    })
  })

  test('has parts that are full: the next character would not fit', () => {
    property((body) => {
      partsOf(body).forEach((part, i, parts) => {
        const next = String.fromCodePoint(parts[i + 1]?.codePointAt(0) ?? 0)
        if (next === '\0') return
        const longer = part + next
        const length = body.encoding === 'gsm-7' ? (septets(longer) ?? 0) : longer.length
        expect(length).toBeGreaterThan(body.encoding === 'gsm-7' ? 153 : 67)
      })
    })
  })

  test('is sent in GSM 7-bit exactly if all its characters are in the alphabet', () => {
    property((body) => expect(body.encoding).toBe(septets(body.text) === undefined ? 'ucs-2' : 'gsm-7'))
  })

  test('that needs UCS-2 is sent without replacements', () => {
    property((body, text) => {
      if (body.encoding === 'ucs-2') expect(body.text).toBe(text)
    })
  })
})

// An algorithm that takes quadratic time in the length of the text exceeds the time limit here. An example is composing
// all marks after one letter.
test('hostile texts of a million code units are encoded in linear time', () => {
  expect(bodyOf(`e${'\u0301\u0323'.repeat(500_000)}`)).toBe('too-long')
  expect(bodyOf('e\u0301'.repeat(500_000))).toBe('too-long')
  expect(bodyOf('😀'.repeat(500_000))).toBe('too-long')
  expect(bodyOf('\u200b'.repeat(1_000_000))).toBe('no-message')
  expect(bodyOf(' '.repeat(1_000_000))).toBe('no-message')
})

// Ranges of characters of the basic plane that an independent implementation (Encode::GSM0338 of Perl) can encode: in
// one byte (`inDefaultAlphabet`) or in two (`inExtension`).
const inDefaultAlphabet =
  '000a 000d 0020-005a 005f 0061-007a 00a1 00a3-00a5 00a7 00bf 00c4-00c7 00c9 00d1 00d6 00d8 00dc 00df-00e0 00e4-00e6 ' +
  '00e8-00e9 00ec 00f1-00f2 00f6 00f8-00f9 00fc 0393-0394 0398 039b 039e 03a0 03a3 03a6 03a8-03a9'
const inExtension = '000c 005b-005e 007b-007e 20ac'

const codesIn = (ranges: string): readonly number[] =>
  ranges.split(' ').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map((hex) => Number.parseInt(hex, 16))
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  })

test('all 65536 code units have the number of septets that an independent implementation returns', () => {
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

describe('replaceLookAlikes makes of', () => {
  test.each<[string, string, string]>([
    ['curly single quotes', '‘it’s’ ‚so‛', "'it's' 'so'"],
    ['curly double quotes', '“so” „so‟', '"so" "so"'],
    ['guillemets', '«so» ‹so›', '"so" \'so\''],
    ['primes', '6′ 2″', '6\' 2"'],
    ['a grave accent and an acute accent alone', '`a´', "'a'"],
    ['hyphens and dashes', 'a‐b‑c‒d–e—f―g', 'a-b-c-d-e-f-g'],
    ['a minus sign', '−5', '-5'],
    ['an ellipsis', 'so…', 'so...'],
    ['non-breaking and thin spaces', '1\u00a0000\u2009000\u202f000', '1 000 000 000'],
    ['an ideographic space', 'a\u3000b', 'a b'],
    ['a tab', 'a\tb', 'a b'],
    ['line and paragraph separators', 'a\u2028b\u2029c\u000bd\u0085e', 'a\nb\nc\nd\ne'],
    ['bullets', '• a\n‣ b', '* a\n* b'],
    ['a fraction slash', '1⁄2', '1/2'],
    ['ligatures', 'oﬀ eﬃcient ﬁnd ﬂat aﬄict ﬆyle', 'off efficient find flat afflict style'],
    ['a multiplication sign', '2×3', '2x3'],
    [
      'letters with a combining mark that the alphabet has whole',
      'e\u0301 A\u030a C\u0327 n\u0303 u\u0308',
      'é Å Ç ñ ü',
    ],
    ['kelvin, ångström and ohm signs', '\u212a\u212b\u2126', 'KÅΩ'],
    ['what is in the alphabet', '@£$¥èé ^{}\\[~]|€\f\r\n', '@£$¥èé ^{}\\[~]|€\f\r\n'],
    ['letters with other accents', 'á ç ê ł ő', 'á ç ê ł ő'],
    ['a letter with a mark that the alphabet has not whole', 'a\u0301', 'a\u0301'],
    ['capitals of other scripts', 'АΑ', 'АΑ'],
    ['signs that mean something else', '© ® ™ ½ m² 3·5 № °', '© ® ™ ½ m² 3·5 № °'],
    ['characters that reverse the direction', 'a\u202eb\u202bc\u2067d', 'a\u202eb\u202bc\u2067d'],
    ['emoji', '👍🏽', '👍🏽'],
    ['nothing', '', ''],
  ])('%s', (_, text, expected) => {
    expect(replaceLookAlikes(text)).toBe(expected)
  })

  test('any single code unit: itself, or what fits GSM 7-bit; and never touches what fits already', () => {
    const wrong = Array.from({ length: 65_536 }, (_, code) => String.fromCharCode(code)).filter((character) => {
      const replaced = replaceLookAlikes(character)
      return replaced !== character && (septets(replaced) === undefined || septets(character) !== undefined)
    })
    expect(wrong).toEqual([])
  })

  test('any text: one without look-alikes is unchanged, so that a second time changes nothing', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '“', '…', '\u200b', '\u00a0', 'ж', '😀', '\u0000', 'ﬁ') })
    fc.assert(
      fc.property(text, (original) => {
        const replaced = replaceLookAlikes(original)
        expect(replaceLookAlikes(replaced)).toBe(replaced)
      }),
    )
  })
})

describe('dropUnseen', () => {
  test.each<[string, string, string]>([
    ['drops what nobody sees', '\ufeffa\u200bb\u00adc\u200dd\u2060', 'abcd'],
    ['drops the marks around a pasted number', '\u202a+27821234567\u202c', '+27821234567'],
    ['leaves all else alone', 'a b–ж👍🏽\u202e', 'a b–ж👍🏽\u202e'],
  ])('%s', (_, text, expected) => {
    expect(dropUnseen(text)).toBe(expected)
  })
})

describe('characters that make a text expensive', () => {
  test.each([
    ['Hello', [], [], []],
    ['5 € [now] €', [], [], ['€', '[', ']']],
    ['“Şule”, 😀 – 😀', ['Ş', '😀'], [], []],
    [
      'It’s – here…',
      [],
      [
        ['’', "'"],
        ['–', '-'],
        ['…', '...'],
      ],
      [],
    ],
    ['a\u0308\u200b', [], [['a\u0308', 'ä']], []],
  ])('%j: %j is outside the alphabet, %j are replaced, %j count twice', (text, outside, replaced, double) => {
    expect(costlyCharacters(text)).toEqual({ outside, replaced, double })
  })

  test('a text is sent in UCS-2 or with replacements exactly if it has characters that need it', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '€', '’', 'ж', '…', '\u200b') }), (text) => {
        const body = bodyOf(text)
        if (typeof body === 'string') return
        const { outside, replaced } = costlyCharacters(text)
        const isWide = body.encoding === 'ucs-2'
        expect([outside.length > 0, replaced.length > 0]).toEqual([isWide, !isWide && body.text !== dropUnseen(text)])
      }),
    )
  })
})
