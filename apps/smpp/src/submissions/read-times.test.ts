import { instant } from '@gateway/core/time'
import { readSmppTime, readTimes, receiptTime, smppTime } from './read-times.ts'

const now = instant(Date.UTC(2026, 9, 18, 12, 0, 0))
const at = (text: string) => {
  const time = readSmppTime(text, now)
  return typeof time === 'number' ? new Date(time).toISOString() : time
}

test.each([
  ['', undefined],
  ['261018140000008+', '2026-10-18T12:00:00.000Z'],
  ['261018100000008-', '2026-10-18T12:00:00.000Z'],
  ['261018120000000+', '2026-10-18T12:00:00.000Z'],
  ['000000000130000R', '2026-10-18T12:01:30.000Z'],
  ['000100000000000R', '2026-11-18T12:00:00.000Z'],
  ['000001000000000R', '2026-10-19T12:00:00.000Z'],
  ['260230120000000+', 'unusable'],
  ['261318120000000+', 'unusable'],
  ['261018250000000+', 'unusable'],
  ['261018120000049+', 'unusable'],
  ['000001000000100R', 'unusable'],
  ['2610181200', 'unusable'],
  ['tomorrow', 'unusable'],
])('%j is %s', (text, expected) => {
  expect(at(text)).toBe(expected)
})

const times = (scheduleDeliveryTime: string, validityPeriod: string) =>
  readTimes({ scheduleDeliveryTime, validityPeriod }, now)

test('a validity is rounded up to minutes, limited to 72 hours, and counted from the schedule', () => {
  expect(times('', '')).toEqual({ scheduled: undefined, validity: undefined })
  expect(times('', '000000000001000R')).toMatchObject({ validity: 1 })
  expect(times('', '000007000000000R')).toMatchObject({ validity: 4320 })
  expect(times('000000010000000R', '000000020000000R')).toMatchObject({ validity: 60 })
})

test('a validity that ends before the message is due is refused', () => {
  expect(times('000000020000000R', '000000010000000R')).toBe('unusable')
  expect(times('', '261018110000000+')).toBe('unusable')
})

test('times are formatted in UTC, and dates of receipts at the offset of the credential', () => {
  expect(smppTime(now)).toBe('261018120000000+')
  expect(receiptTime(now, 0)).toBe('2610181200')
  expect(receiptTime(now, 120)).toBe('2610181400')
  expect(receiptTime(now, -750)).toBe('2610172330')
})
