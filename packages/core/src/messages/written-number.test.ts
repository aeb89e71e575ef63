import fc from 'fast-check'
import { mobileNumberLengths } from './calling-codes.ts'
import { parseCallingCode, parseMsisdn } from './msisdn.ts'
import { readNumberIn, readSoughtNumber, readWrittenNumber } from './written-number.ts'

test.each<[string, string]>([
  ['plain digits', '27820000001'],
  ['a plus sign', '+27820000001'],
  ['groups', '+27 82 000 0001'],
  ['hyphens', '27-82-000-0001'],
  ['dashes that are no ASCII hyphen', '27\u201182\u2013000\u20140001'],
  ['dots', '27.82.000.0001'],
  ['brackets, hyphens and dots', '+27 (82) 000-00.01'],
  ['the form of a domain registry', '+27.820000001'],
  ['brackets', '+27 (82) 000-0001'],
  ['a calling code in brackets', '(27) 82 000 0001'],
  ['spaces that do not break', '27\u00a082\u202f000\u20090001'],
  ['white space around it', '\t27820000001\r\n'],
  ['direction marks of a phone', '\u202a+27 82 000 0001\u202c'],
  ['isolates', '\u2068+27820000001\u2069'],
  ['a space without width', '\u200b27820000001'],
  ['a byte order mark', '\ufeff27820000001'],
  ["a spreadsheet's apostrophe", "'27820000001"],
  ['an apostrophe and a plus sign', "'+27820000001"],
  ['a formula with a text', '="27820000001"'],
  ['a formula with a text that has a plus sign', '="+27 82 000 0001"'],
  ['a formula', '=+27820000001'],
  ['quotes', '"27820000001"'],
])('reads %s, and nothing is changed', (_, written) => {
  expect(readWrittenNumber(written)).toEqual({ number: '27820000001', changed: false })
})

test.each<[string, string, string]>([
  ['the decimal of a spreadsheet', '43660123456.0', '43660123456'],
  ['the decimal of a spreadsheet with a plus sign', '+43660123456.0', '43660123456'],
  ['the decimal of a German spreadsheet', '43660123456,0', '43660123456'],
  ['the decimal in a text', '="43660123456.0"', '43660123456'],
  ['a trunk prefix in brackets', '+43 (0)660 123456', '43660123456'],
  ['a trunk prefix in brackets without a plus sign', '43(0)660123456', '43660123456'],
  ['a trunk prefix in brackets and the decimal', '43 (0) 660 123456.0', '43660123456'],
  ['a British trunk prefix', '+44 (0)7700 900123', '447700900123'],
  ['a prefix of international calls', '0043 660 123456', '43660123456'],
  ['both prefixes', '0043 (0) 660 123456', '43660123456'],
])('reads %s, and reports that digits changed', (_, written, number) => {
  expect(readWrittenNumber(written)).toEqual({ number, changed: true })
})

test.each<[string, string, string]>([
  ['nothing', '', 'no-number'],
  ['white space and marks', ' \u200b\u202c ', 'no-number'],
  ['an empty formula', '=""', 'no-number'],
  ['scientific notation', '4.3660123456E+10', 'scientific-notation'],
  ['scientific notation with a comma', '4,366E+10', 'scientific-notation'],
  ['short scientific notation', '4e10', 'scientific-notation'],
  ['a national number', '0660 123456', 'national-number'],
  ['a national number in brackets', '(0660) 123456', 'national-number'],
  ['a zero in brackets at the beginning', '(0)660 123456', 'national-number'],
  ['a trunk prefix after the calling code', '+27 082 000 0001', 'trunk-prefix'],
  ['a trunk prefix that makes a possible length', '430660123456', 'trunk-prefix'],
  ['a trunk prefix after 00 and the calling code', '0049 0176 1234567', 'trunk-prefix'],
  ['a decimal', '43660123456.5', 'uncertain-number'],
  ['two decimals', '43660123456.00', 'uncertain-number'],
  ['two decimals of a grouped number', '43 660 123 456.25', 'uncertain-number'],
  ['a mantissa', '4.3660123456', 'uncertain-number'],
  ['groups that end in one digit', '43.660.123.456.0', 'uncertain-number'],
  ['an extension', '43660123456-7', 'uncertain-number'],
  ['an extension in words', '43660123456 ext. 7', 'uncertain-number'],
  ['two numbers', '27820000001/27820000002', 'uncertain-number'],
  ['two numbers with a comma', '27820000001, 27820000002', 'uncertain-number'],
  ['two lines', '27820000001\n27820000002', 'uncertain-number'],
  ['a zero in brackets at another place', '4366 (0) 123456', 'uncertain-number'],
  ['a zero with other digits in brackets', '+43 (0660) 123456', 'uncertain-number'],
  ['two zeros in brackets', '+43 (0)(0)660 123456', 'uncertain-number'],
  ['a zero in brackets that may be dialled', '+39 (0)6 12345678', 'uncertain-number'],
  ['brackets that do not match', '+43 660) 123456', 'uncertain-number'],
  ['two plus signs', '++43660123456', 'uncertain-number'],
  ['a plus sign inside', '43+660123456', 'uncertain-number'],
  ['U+0000', '27820000001\0', 'uncertain-number'],
  ['a name', 'Ann', 'invalid-number'],
  ['too few digits', '2782', 'invalid-number'],
  ['a calling code that is not assigned', '+210 123 45678', 'invalid-number'],
  ['digits of another script', '٢٧٨٢١٢٣٤٥٦٧', 'invalid-number'],
  ['a megabyte of digits', '2'.repeat(1_000_000), 'uncertain-number'],
  ['three zeros', '00027820000001', 'national-number'],
])('refuses %s', (_, written, reason) => {
  expect(readWrittenNumber(written)).toEqual({ unread: reason })
})

test('a number that an earlier version stored with a trunk prefix is found; the search accepts nothing else in addition', () => {
  expect(readSoughtNumber('+43 0660 123456')).toEqual({ number: '430660123456', changed: false })
  expect(readWrittenNumber('+43 0660 123456')).toEqual({ unread: 'trunk-prefix' })
  expect(readSoughtNumber('+43 (0)660 123456')).toEqual({ number: '43660123456', changed: true })
  expect(readSoughtNumber('43660123456.5')).toEqual({ unread: 'uncertain-number' })
  expect(readSoughtNumber('0660 123456')).toEqual({ unread: 'national-number' })
  expect(readSoughtNumber('Ann')).toEqual({ unread: 'invalid-number' })
})

const digit = fc.constantFrom(...Array.from('0123456789'))
const number = fc
  .tuple(fc.constantFrom(...Object.keys(mobileNumberLengths)), fc.array(digit, { minLength: 4, maxLength: 12 }))
  .map(([code, rest]) => code + rest.join(''))
  .filter((text) => parseMsisdn(text) === text)

/** Digits with separators between some of them, and with characters that people and programs put around them. */
const written = fc
  .tuple(
    fc.constantFrom('', '+', '00', "'", '="', '\u202a+', '+ ', '0', '(', 'tel:'),
    number,
    fc.array(fc.constantFrom('', '', ' ', '-', '.', ' (', ') ', '(0)', ' (0) ', '\u00a0', '\u200b', ',', '/', 'e+'), {
      minLength: 15,
      maxLength: 15,
    }),
    fc.constantFrom('', '"', '.0', ',0', '.5', ' ', '\u202c', '-1', 'E+10', ')'),
  )
  .map(
    ([before, digits, between, after]) =>
      before +
      Array.from(digits, (one, at) => one + (at + 1 < digits.length ? (between[at] ?? '') : '')).join('') +
      after,
  )

const digitsOf = (text: string): string => text.replace(/[^0-9]/g, '')
const sparse = fc
  .tuple(
    number,
    fc.nat({ max: 14 }),
    fc.constantFrom(' ', '-', '.', '(0)', ' (0) ', '\u200b', ''),
    fc.constantFrom('', '.0'),
  )
  .map(([digits, at, between, after]) => digits.slice(0, at) + between + digits.slice(at) + after)

test('an accepted number has exactly the digits that the person wrote, except those reported as omitted', () => {
  fc.assert(
    fc.property(fc.oneof(written, sparse, fc.string({ unit: 'grapheme', maxLength: 20 })), (text) => {
      const read = readWrittenNumber(text)
      if (read.number === undefined) return
      expect(parseMsisdn(read.number)).toBe(read.number)
      const digits = text
        .replace(/[.,]0(?=\D*$)/, '')
        .replace('(0)', '')
        .replace(/^(\D*)00/, '$1')
      expect(digitsOf(read.changed ? digits : text)).toBe(read.number)
      expect(read.changed).toBe(digitsOf(text) !== read.number)
    }),
    { numRuns: 20_000 },
  )
})

test('a number that the wire interfaces accept is read unchanged, also in groups of digits', () => {
  fc.assert(
    fc.property(number, fc.integer({ min: 1, max: 13 }), fc.constantFrom(' ', '\u00a0', ''), (digits, at, space) => {
      expect(readWrittenNumber(digits)).toEqual({ number: digits, changed: false })
      expect(readWrittenNumber(`+${digits.slice(0, at)}${space}${digits.slice(at)}`)).toEqual({
        ...{ number: digits, changed: false },
      })
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['0660 123456', '43', '43660123456'],
  ['(0660) 123456', '43', '43660123456'],
  ['0825550101', '27', '27825550101'],
  ['06 30 123 4567', '36', '36301234567'],
  // In Ivory Coast the first 0 belongs to the number.
  ['07 01 23 45 67', '225', '2250701234567'],
])('%j is %s in the country %s, and the person sees both', (written, code, number) => {
  expect(readNumberIn(parseCallingCode(code), written)).toEqual({ number, changed: true })
  expect(readNumberIn(undefined, written)).toEqual({ unread: 'national-number' })
})

test.each([
  ['+27 82 555 0101', '43', { number: '27825550101', changed: false }],
  ['0043 660 123456', '27', { number: '43660123456', changed: true }],
  ['01', '43', { unread: 'national-number' }],
  ['4.366E+10', '43', { unread: 'scientific-notation' }],
])('%j in the country %s is %j: a country changes only numbers without a country code', (written, code, read) => {
  expect(readNumberIn(parseCallingCode(code), written)).toEqual(read)
})

test.each([
  ['43', '43'],
  ['+43', '43'],
  [' 0043 ', '43'],
  ['1', '1'],
  ['4', undefined],
  ['999', undefined],
  ['constructor', undefined],
  ['', undefined],
])('%j is the calling code %s', (text, code) => {
  expect(parseCallingCode(text)).toBe(code)
})
