import fc from 'fast-check'
import { formatDate, formatMinute, formatStamp, formatTime, parseMinute } from './gateway-time.ts'
import { instant } from './instant.ts'

const at = (iso: string) => instant(Date.parse(iso))

test.each<[string, string, string]>([
  ['two hours ahead of UTC', '202610181824', '2026-10-18T16:24:00Z'],
  ['in winter as in summer', '202601181824', '2026-01-18T16:24:00Z'],
  ['in July', '202607181824', '2026-07-18T16:24:00Z'],
  ['the first minute of a day', '202610180000', '2026-10-17T22:00:00Z'],
  ['the last minute of a year', '202612312359', '2026-12-31T21:59:00Z'],
  ['a minute that summer time skips in Berlin', '202603290230', '2026-03-29T00:30:00Z'],
  ['29 February of a leap year', '202402291200', '2024-02-29T10:00:00Z'],
  ['29 February 2000', '200002291200', '2000-02-29T10:00:00Z'],
  ['a year below 100', '000101010000', '0000-12-31T22:00:00Z'],
  ['the year 99, which is not 1999', '009906151200', '0099-06-15T10:00:00Z'],
  ['the last minute there is', '999912312359', '9999-12-31T21:59:00Z'],
])('parseMinute reads %s', (_, text, iso) => {
  expect(parseMinute(text)).toBe(at(iso))
  expect(formatMinute(at(iso))).toBe(text)
})

test.each<[string, string]>([
  ['nothing', ''],
  ['30 February', '202602301200'],
  ['29 February of a common year', '202602291200'],
  ['29 February 1900', '190002291200'],
  ['31 April', '202604311200'],
  ['day 0', '202610001200'],
  ['day 32', '202610321200'],
  ['month 0', '202600181200'],
  ['month 13', '202613181200'],
  ['hour 24', '202610182400'],
  ['minute 60', '202610181860'],
  ['the year 0', '000001010000'],
  ['11 digits', '20261018182'],
  ['13 digits', '2026101818240'],
  ['seconds', '20261018182400'],
  ['a space before', ' 202610181824'],
  ['a line break after', '202610181824\n'],
  ['a sign', '+20261018182'],
  ['a fraction', '2026101818.4'],
  ['digits of another script', '２０２６１０１８１８２４'],
  ['the form of ISO', '2026-10-18T18:24'],
])('parseMinute refuses %s', (_, text) => {
  expect(parseMinute(text)).toBeUndefined()
})

const moment = at('2026-10-18T16:24:05.007Z')

test.each<[string, string, string]>([
  ['formatMinute', formatMinute(moment), '202610181824'],
  ['formatStamp', formatStamp(moment), '20261018182405007'],
  ['formatDate', formatDate(moment), '2026/10/18'],
  ['formatTime', formatTime(moment), '18:24:05'],
  ['formatDate after 22:00 UTC', formatDate(at('2026-12-31T22:00:00Z')), '2027/01/01'],
  ['formatStamp before 1970', formatStamp(at('1969-12-31T21:59:59.999Z')), '19691231235959999'],
  ['formatStamp at the first instant', formatStamp(at('0000-12-31T22:00:00Z')), '00010101000000000'],
  ['formatStamp at the last instant', formatStamp(at('9999-12-31T21:59:59.999Z')), '99991231235959999'],
])('%s', (_, text, expected) => {
  expect(text).toBe(expected)
})

const instants = fc
  .integer({ min: Date.parse('0001-01-01T00:00+02:00'), max: Date.parse('9999-12-31T23:59:59.999+02:00') })
  .map((milliseconds) => instant(milliseconds))

test('parseMinute reads back what formatMinute writes, cut to the minute', () => {
  fc.assert(
    fc.property(instants, (moment) => {
      expect(parseMinute(formatMinute(moment))).toBe(Math.floor(moment / 60_000) * 60_000)
    }),
  )
})

test('parseMinute agrees with the calendar of the platform for every day of 1896 to 2104', () => {
  const wrong: string[] = []
  for (let year = 1896; year <= 2104; year++) {
    for (let day = 1; day <= 12 * 31; day++) {
      const [month, date] = [Math.ceil(day / 31), ((day - 1) % 31) + 1].map((field) => String(field).padStart(2, '0'))
      const iso = new Date(Date.UTC(year, Number(month) - 1, Number(date))).toISOString()
      const exists = iso.startsWith(`${year}-${month}-${date}`)
      const text = `${year}${month}${date}0200`
      if (parseMinute(text) !== (exists ? Date.parse(iso) : undefined)) wrong.push(text)
    }
  }
  expect(wrong).toEqual([])
})

// A test cannot change the time zone of its own process. Instead, every function that reads the zone throws here.
test('parsing and formatting do not depend on the time zone of the process', () => {
  const dates = Date.prototype as unknown as Record<string, unknown>
  const zoned = Object.getOwnPropertyNames(dates).filter(
    (name) => /^(get|set|to)/.test(name) && !/UTC|ISO|GMT|JSON|^[gs]etTime$/.test(name),
  )
  expect(zoned).toEqual(
    expect.arrayContaining(['getHours', 'setHours', 'getTimezoneOffset', 'toString', 'toLocaleString']),
  )
  const originals = zoned.map((name) => [name, dates[name]] as const)
  try {
    for (const name of zoned) {
      dates[name] = () => {
        throw new Error(`${name} reads the zone of the process`)
      }
    }
    expect(formatStamp(at('2026-03-29T01:30:00.000Z'))).toBe('20260329033000000')
    expect(formatMinute(at('2026-03-29T01:30:00.000Z'))).toBe('202603290330')
    expect(formatDate(at('2026-03-29T22:30:00.000Z'))).toBe('2026/03/30')
    expect(formatTime(at('2026-03-29T22:30:00.000Z'))).toBe('00:30:00')
    expect(parseMinute('202603290230')).toBe(Date.UTC(2026, 2, 29, 0, 30))
  } finally {
    for (const [name, original] of originals) dates[name] = original
  }
})

test('formatMinute writes alternating minutes like single ones', () => {
  const minutes = [0, 1, 0, 2, 1, 0, 2, 2, 1].map((minute) => at(`2026-10-18T18:0${minute}:59.999Z`))
  expect(minutes.map(formatMinute).join()).toBe(
    [0, 1, 0, 2, 1, 0, 2, 2, 1].map((minute) => `20261018200${minute}`).join(),
  )
})
