import { instant } from '@gateway/core/time'
import {
  readAccount,
  readCredits,
  readExpiry,
  readFrom,
  readNumber,
  readNumbers,
  readSeconds,
  readTo,
} from './arguments.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))

test.each(['0', '', ' 3', 'a b', 'x'.repeat(65), 'Zoë'])('%j is refused as an account', (text) => {
  expect(() => readAccount(text)).toThrow("Expected an account's id, a whole number without a 'W', or its login.")
})

test.each([
  ['3', 3],
  ['2147483647', 2147483647],
  ['W3', { login: 'W3' }],
  ['27825550101', { login: '27825550101' }],
  ['acme', { login: 'acme' }],
])('%j is accepted as an account', (text, account) => {
  expect(readAccount(text)).toEqual(account)
})

test.each(['1.25', '1,5', '+1', '1e3', '', 'NaN', '9999999999999'])('%j is refused as an amount of credits', (text) => {
  expect(() => readCredits(text)).toThrow('Expected an amount of credits with at most one decimal')
})

test.each(['27825550101', '+27825550101', '27 82 555 0101', '27-82-555-0101', '+27 (0)82 555 0101'])(
  '%s is read as the number 27825550101',
  (text) => {
    expect(readNumber(text)).toBe('27825550101')
  },
)

test.each([
  ['++27825550101', 'it is not certain which number is meant'],
  ['+', 'not a mobile number in international form'],
  ['+0825550101', 'not a mobile number in international form'],
  ['0825550101', 'country code is missing'],
  ['2782555010', 'not a mobile number in international form'],
  ['abc', 'not a mobile number in international form'],
  ['', 'the number is missing'],
])('%j is refused as a number, with the expected form and the reason', (text, reason) => {
  expect(() => readNumber(text)).toThrow('in international form, such as 27825550101 or +27825550101; ')
  expect(() => readNumber(text)).toThrow(reason)
})

test('readNumbers separates numbers by commas, blanks or further options, and returns them as typed', () => {
  expect(readNumbers('27825550101,27825550102; x')).toEqual(['27825550101', '27825550102', 'x'])
  expect(readNumbers('27825550101 27825550102')).toEqual(['27825550101', '27825550102'])
  expect(readNumbers('+27 82 555 0101')).toEqual(['+27 82 555 0101'])
  expect(readNumbers('2', ['1'])).toEqual(['1', '2'])
  expect(() => readNumbers(' , ')).toThrow('Expected one or more numbers')
})

test.each(['0', '86401', '-1', '1.5', 'x'])('%j is refused as a number of seconds to wait', (text) => {
  expect(() => readSeconds(text)).toThrow('1 to 86400')
})

test('readExpiry ends a day at its last millisecond at GMT+2, including 9999-12-31', () => {
  expect(readExpiry('2027-12-31')(now)).toBe(Date.UTC(2027, 11, 31, 21, 59, 59, 999))
  expect(readExpiry('9999-12-31')(now)).toBe(Date.UTC(9999, 11, 31, 21, 59, 59, 999))
})

test('readExpiry, readFrom and readTo accept a minute at GMT+2 or a number of days relative to now', () => {
  expect(readExpiry('202712312359')(now)).toBe(Date.UTC(2027, 11, 31, 21, 59))
  expect(readExpiry('90d')(now)).toBe(now + 90 * 86_400_000)
  expect([readFrom('7d')(now), readTo('1d')(now)]).toEqual([now - 7 * 86_400_000, now - 86_400_000])
})

test.each(['2027-02-30', '2027-13-01', '20271231', '0d', '-1d', '1.5d', '100000d', 'tomorrow', ''])(
  '%j is refused as an expiry',
  (text) => {
    expect(() => readExpiry(text)).toThrow('Expected a day such as 2027-12-31')
  },
)
