import { createRequire } from 'node:module'
import fc from 'fast-check'
import { mobileNumberLengths, trunkPrefixes } from './calling-codes.ts'
import { parseMsisdn, parseStoredMsisdn } from './msisdn.ts'

test.each<[string, string, string]>([
  ['a South African number', '27821234567', '27821234567'],
  ['white space around it left out', ' \t27821234567\r\n\u00a0', '27821234567'],
  ['a North American number', '12025550123', '12025550123'],
  ['a British number', '447700900123', '447700900123'],
  ['the shortest: Niue', '6834123', '6834123'],
  ['the longest: Austria', '436641234567890', '436641234567890'],
  ['a satellite network', '881612345678', '881612345678'],
  ['an Italian number, where a zero is part of the number', '390612345678', '390612345678'],
  ['a number of Ivory Coast, whose mobile numbers begin with 0', '2250712345678', '2250712345678'],
  ['a number of Gabon, whose mobile numbers begin with 0', '24106031234', '24106031234'],
  ['a number of the Congo, whose mobile numbers begin with 0', '242061234567', '242061234567'],
  ['a number of Kazakhstan, which shares its calling code with Russia', '77011234567', '77011234567'],
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
  ['a German number with its trunk prefix', '4901761234567'],
  ['a Nigerian number with its trunk prefix', '2340803123456'],
  ['a South African number with its trunk prefix', '27082123456'],
  ['an Austrian number with its trunk prefix', '430660123456'],
  ['a British number with its trunk prefix', '440770090012'],
  ['a Hungarian number with its trunk prefix of two digits', '36062012345'],
  ['a North American number with its trunk prefix', '11202555012'],
  ['a second line', '27821234567\n27821234568'],
  ['a list', '27821234567;27821234568'],
  ['an exponent', '2.7e10'],
  ['U+0000 at its end', '27821234567\0'],
  ['a name of every object', '__proto__'],
  ['a megabyte of digits', '2'.repeat(1_000_000)],
])('parseMsisdn refuses %s', (_, text) => {
  expect(parseMsisdn(text)).toBeUndefined()
})

test('parseMsisdn accepts the example mobile number of every country that has one', () => {
  const require = createRequire(import.meta.url)
  const examples = require('libphonenumber-js/mobile/examples') as Record<string, string>
  const { country_calling_codes: regionsByCode } = require('libphonenumber-js/metadata.max.json') as {
    country_calling_codes: Record<string, string[]>
  }
  const numbers = Object.entries(regionsByCode).flatMap(([code, regions]) =>
    regions.flatMap((region) => (examples[region] === undefined ? [] : [code + examples[region]])),
  )
  expect(numbers.length).toBeGreaterThan(200)
  // Tristan da Cunha has no mobile network, so its example in the data is a fixed line number.
  expect(numbers.filter((number) => parseMsisdn(number) === undefined)).toEqual(['2908999'])
})

describe('the table of calling codes', () => {
  const codes = Object.keys(mobileNumberLengths)

  test('has no code that begins with another one, so that a number has at most one calling code', () => {
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

  test('has trunk prefixes only of countries in which no mobile number begins with the prefix', () => {
    expect(Object.keys(trunkPrefixes).filter((code) => !codes.includes(code))).toEqual([])
    const [german, hungarian, russian] = [trunkPrefixes['49'], trunkPrefixes['36'], trunkPrefixes['7']]
    expect({ german, hungarian, russian }).toEqual({ german: ['0'], hungarian: ['06'], russian: ['8'] })
    const unaffected = ['39', '225', '241', '242', '378'].filter((code) => Object.hasOwn(trunkPrefixes, code))
    expect(unaffected).toEqual([])
  })

  test('has South African numbers at exactly 11 digits', () => {
    expect(mobileNumberLengths['27']).toEqual([11])
  })
})

test('parseStoredMsisdn accepts what parseMsisdn accepts, and trunk prefixes, which earlier versions stored', () => {
  expect(parseStoredMsisdn(' 4901761234567')).toBe('4901761234567')
  expect(parseStoredMsisdn('27821234567')).toBe('27821234567')
  expect(parseStoredMsisdn('2708212345')).toBeUndefined()
  expect(parseStoredMsisdn('+4901761234567')).toBeUndefined()
})

test('parseMsisdn accepts exactly the digits with a calling code and length of the tables and without trunk prefix', () => {
  const digits = fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), minLength: 5, maxLength: 17 })
  fc.assert(
    fc.property(digits, (text) => {
      const code = Object.keys(mobileNumberLengths).find((start) => text.startsWith(start))
      const possible = code !== undefined && mobileNumberLengths[code]?.includes(text.length) === true
      const trunked = possible && (trunkPrefixes[code] ?? []).some((prefix) => text.startsWith(code + prefix))
      expect(parseMsisdn(text)).toBe(possible && !trunked ? text : undefined)
    }),
    { numRuns: 2000 },
  )
})
