import fc from 'fast-check'
import { septets } from './gsm7.ts'
import { dropUnseen, replaceLookAlikes } from './look-alikes.ts'

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
