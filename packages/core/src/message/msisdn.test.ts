import { createRequire } from 'node:module'
import fc from 'fast-check'
import { mobileNumberLengths } from './calling-codes.ts'
import { parseMsisdn } from './msisdn.ts'

test.each<[string, string, string]>([
  ['a South African number', '27821234567', '27821234567'],
  ['white space around it left out', ' \t27821234567\r\n\u00a0', '27821234567'],
  ['a North American number', '12025550123', '12025550123'],
  ['a British number', '447700900123', '447700900123'],
  ['the shortest: Niue', '6834123', '6834123'],
  ['the longest: Austria', '436641234567890', '436641234567890'],
  ['a satellite network', '881612345678', '881612345678'],
])('parseMsisdn takes %s', (_, text, number) => {
  expect(parseMsisdn(text)).toBe(number)
})

test.each<[string, string]>([
  ['nothing', ''],
  ['white space', '   '],
  ['a plus sign', '+27821234567'],
  ['two leading zeros', '0027821234567'],
  ['a local number', '0821234567'],
  ['spaces inside', '27 82 123 4567'],
  ['a hyphen', '2782-123-4567'],
  ['letters', '2782123456a'],
  ['digits of another script', '２７８２１２３４５６７'],
  ['Arabic digits', '٢٧٨٢١٢٣٤٥٦٧'],
  ['a South African number of 10 digits', '2782123456'],
  ['a South African number of 12 digits', '278212345678'],
  ['a South African number of 9 digits, which the metadata takes for possible', '278212345'],
  ['a North American number of 10 digits', '1202555012'],
  ['6 digits', '683412'],
  ['16 digits', '4366412345678901'],
  ['a calling code that is not assigned', '21012345678'],
  ['another', '99912345678'],
  ['a code without mobile numbers (freephone)', '80012345678'],
  ['a second line', '27821234567\n27821234568'],
  ['a list', '27821234567;27821234568'],
  ['an exponent', '2.7e10'],
  ['U+0000 at its end', '27821234567\0'],
  ['a name of every object', '__proto__'],
  ['a megabyte of digits', '2'.repeat(1_000_000)],
])('parseMsisdn refuses %s', (_, text) => {
  expect(parseMsisdn(text)).toBeUndefined()
})

test('parseMsisdn takes the example of a mobile number of every country that has any', () => {
  const require = createRequire(import.meta.url)
  const examples = require('libphonenumber-js/mobile/examples') as Record<string, string>
  const { country_calling_codes: regionsByCode } = require('libphonenumber-js/metadata.max.json') as {
    country_calling_codes: Record<string, string[]>
  }
  const numbers = Object.entries(regionsByCode).flatMap(([code, regions]) =>
    regions.flatMap((region) => (examples[region] === undefined ? [] : [code + examples[region]])),
  )
  expect(numbers.length).toBeGreaterThan(200)
  // Tristan da Cunha has no mobile network: its example is a fixed line.
  expect(numbers.filter((number) => parseMsisdn(number) === undefined)).toEqual(['2908999'])
})

describe('the table of calling codes', () => {
  const codes = Object.keys(mobileNumberLengths)

  test('has no code that begins with another one, so that a number has one calling code at most', () => {
    const doubtful = codes.filter((code) => codes.some((other) => other !== code && code.startsWith(other)))
    expect(doubtful).toEqual([])
  })

  test('has codes of 1 to 3 digits and lengths of 7 to 15', () => {
    expect(codes.filter((code) => !/^[1-9][0-9]{0,2}$/.test(code))).toEqual([])
    expect(
      Object.values(mobileNumberLengths)
        .flat()
        .filter((length) => length < 7 || length > 15),
    ).toEqual([])
  })

  test('has South African numbers at exactly 11 digits', () => {
    expect(mobileNumberLengths['27']).toEqual([11])
  })
})

test('parseMsisdn takes a number of digits exactly if the table has its calling code with its length', () => {
  const digits = fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), minLength: 5, maxLength: 17 })
  fc.assert(
    fc.property(digits, (text) => {
      const code = Object.keys(mobileNumberLengths).find((start) => text.startsWith(start))
      const known = code !== undefined && mobileNumberLengths[code]?.includes(text.length) === true
      expect(parseMsisdn(text)).toBe(known ? text : undefined)
    }),
    { numRuns: 2000 },
  )
})
