import { daysBefore, instant, secondsAfter } from './instant.ts'

const noon = instant(Date.UTC(2026, 9, 18, 12))

test.each([
  0,
  1,
  -1,
  1_792_324_800_000,
  Date.parse('0001-01-01T00:00+02:00'),
  Date.parse('9999-12-31T23:59:59.999+02:00'),
])('instant takes %d ms', (milliseconds) => {
  expect(instant(milliseconds)).toBe(milliseconds)
})

test.each([
  0.5,
  Number.NaN,
  Infinity,
  -Infinity,
  Date.parse('0001-01-01T00:00+02:00') - 1,
  Date.parse('9999-12-31T23:59:59.999+02:00') + 1,
])('instant throws for %d ms', (milliseconds) => {
  expect(() => instant(milliseconds)).toThrow(RangeError)
})

test('instant has one zero', () => {
  expect(Object.is(instant(-0), 0)).toBe(true)
})

test.each<[number, string]>([
  [90, '2026-10-18T12:01:30.000Z'],
  [-90, '2026-10-18T11:58:30.000Z'],
  [1.005, '2026-10-18T12:00:01.005Z'],
  [48 * 3600, '2026-10-20T12:00:00.000Z'],
])('secondsAfter counts %d s to the millisecond', (seconds, expected) => {
  expect(new Date(secondsAfter(noon, seconds)).toISOString()).toBe(expected)
})

test('secondsAfter throws a RangeError outside the years 0001 to 9999', () => {
  expect(() => secondsAfter(noon, 1e12)).toThrow(RangeError)
  expect(() => secondsAfter(noon, Number.NaN)).toThrow(RangeError)
})

test('daysBefore keeps the time of day to the millisecond over 90 days', () => {
  const at = instant(Date.UTC(2026, 9, 18, 12, 0, 0, 1))
  expect(new Date(daysBefore(at, 90)).toISOString()).toBe('2026-07-20T12:00:00.001Z')
})
