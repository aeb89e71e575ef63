import type { Brand } from '../brand.ts'
import { instant, type Instant } from './instant.ts'

// Every interface reads and writes times at +02:00, all year, whatever the time zone of the process (ruling 1.1). For
// this reason the code here shifts a date by the offset and uses only UTC getters and setters.
const offsetHours = 2
const offsetMilliseconds = offsetHours * 3_600_000

const minutePattern = /^([0-9]{4})([0-9]{2})([0-9]{2})([01][0-9]|2[0-3])([0-5][0-9])$/

/**
 * Parses `CCYYMMDDHHmm` in gateway time (spec 2): exactly 12 ASCII digits, a date of the calendar (no 30 February),
 * 00:00 to 23:59, years 0001 to 9999. Returns undefined for any other text. Accepts times in the past.
 */
export function parseMinute(text: string): Instant | undefined {
  const fields = minutePattern.exec(text)
  if (fields === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = fields.slice(1).map(Number)
  if (year === 0) return undefined
  // Date.UTC cannot be used, because it reads the years 0 to 99 as 1900 to 1999.
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  // If the month does not have this day (0, or 29 to 99), setUTCFullYear has moved the date to another month.
  if (date.getUTCMonth() !== month - 1) return undefined
  return instant(date.setUTCHours(hour, minute) - offsetMilliseconds)
}

const dayMilliseconds = 86_400_000

/** A day in gateway time, as the number of days since 1970. */
export type GatewayDay = Brand<number, 'GatewayDay'>

export const gatewayDay = (at: Instant): GatewayDay =>
  Math.floor((at + offsetMilliseconds) / dayMilliseconds) as GatewayDay

/** Returns the first instant of the day. */
export const startOfGatewayDay = (day: GatewayDay): Instant => instant(day * dayMilliseconds - offsetMilliseconds)

const daysMax = 1000
const days = new Map<number, string>()

/**
 * Formats a day since 1970 as `20261018`. The text is cached, because one answer may format thousands of times that
 * fall on a few days. A cached day takes 0.14 µs instead of 0.94.
 */
function dateOf(day: number): string {
  const known = days.get(day)
  if (known !== undefined) return known
  const date = new Date(day * dayMilliseconds).toISOString().slice(0, 10).replaceAll('-', '')
  if (days.size === daysMax) days.clear()
  days.set(day, date)
  return date
}

function wallClock(at: Instant) {
  const moved = Math.floor(at) + offsetMilliseconds
  const day = Math.floor(moved / dayMilliseconds)
  const ofDay = moved - day * dayMilliseconds
  const digits = (unit: number, modulus: number) => twoDigits(Math.floor(ofDay / unit) % modulus)
  return { date: dateOf(day), hour: digits(3_600_000, 24), minute: digits(60_000, 60), second: digits(1000, 60), ofDay }
}

const twoDigits = (value: number): string => (value < 10 ? `0${value}` : String(value))

/** Formats as CCYYMMDDHHmm in gateway time, cut to the minute: `202610181824`. */
export function formatMinute(at: Instant): string {
  const sinceEpoch = Math.floor(at / 60_000)
  if (sinceEpoch === lastMinute.sinceEpoch) return lastMinute.text
  const other = lastMinute
  lastMinute = otherMinute.sinceEpoch === sinceEpoch ? otherMinute : { sinceEpoch, text: minuteText(at) }
  otherMinute = other
  return lastMinute.text
}

function minuteText(at: Instant): string {
  const { date, hour, minute } = wallClock(at)
  return date + hour + minute
}

// The texts of the last two minutes are cached, because the times of one answer are mostly equal or alternate. A cached
// minute takes 0.01 µs.
let lastMinute = { sinceEpoch: NaN, text: '' }
let otherMinute = lastMinute

/** Formats as 17 digits YYYYMMDDhhmmssSSS in gateway time (ruling 2.1): `20261018182405123`. */
export function formatStamp(at: Instant): string {
  const { date, hour, minute, second, ofDay } = wallClock(at)
  return date + hour + minute + second + String(ofDay % 1000).padStart(3, '0')
}

/** Formats as CCYY/MM/DD in gateway time (spec 4.2, rule 3): `2026/10/18`. */
export function formatDate(at: Instant): string {
  const { date } = wallClock(at)
  return `${date.slice(0, 4)}/${date.slice(4, 6)}/${date.slice(6)}`
}

/** Formats as HH:mm:ss in gateway time (spec 4.2, rule 3): `18:24:05`. */
export function formatTime(at: Instant): string {
  const { hour, minute, second } = wallClock(at)
  return `${hour}:${minute}:${second}`
}
