import { instant, type Instant } from '@gateway/core/time'
import { validityMinutes, validityMinutesMax, type ValidityMinutes } from '@gateway/core/messages'

const absolute = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\d(\d\d)([+-])$/
const relative = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)000R$/
const secondMilliseconds = 1000
const quarterMilliseconds = 900_000
const quartersMax = 48

/**
 * Reads a time of SMPP (3.4, 7.1.1): YYMMDDhhmmsstnnp, absolute with an offset in quarters of an hour, or relative to
 * `now`. Years are 2000 to 2099. Returns undefined for an empty text, and 'unusable' for any other text that does not
 * have this form.
 */
export function readSmppTime(text: string, now: Instant): Instant | undefined | 'unusable' {
  if (text === '') return undefined
  const fromNow = relative.exec(text)
  if (fromNow !== null) return relativeTime(fromNow.slice(1).map(Number), now)
  const fields = absolute.exec(text)
  if (fields === null) return 'unusable'
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, quarters = 0] = fields.slice(1, 8).map(Number)
  const date = new Date(Date.UTC(2000 + year, month - 1, day, hour, minute, second))
  const isDate = month >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  if (!isDate || hour > 23 || minute > 59 || second > 59 || quarters > quartersMax) return 'unusable'
  const offset = (fields[8] === '-' ? -1 : 1) * quarters * quarterMilliseconds
  return instant(date.getTime() - offset)
}

/** Adds years and months by the calendar, and days, hours, minutes and seconds by their length. */
function relativeTime([years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0]: number[], now: Instant) {
  const date = new Date(now)
  date.setUTCMonth(date.getUTCMonth() + 12 * years + months)
  const rest = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
  return instant(date.getTime() + rest * secondMilliseconds)
}

export interface Times {
  /** Time at which the message is due; undefined or past: at once. */
  readonly scheduled: Instant | undefined
  readonly validity: ValidityMinutes | undefined
}

const minuteMilliseconds = 60_000

/**
 * Reads schedule_delivery_time and validity_period. A validity is rounded up to whole minutes and limited to 72 hours
 * (ruling 1.29), because customers ask for a week by default. Returns 'unusable' if one of them is not a valid time, or
 * if the validity ends before the message is due.
 */
export function readTimes(
  { scheduleDeliveryTime, validityPeriod }: { scheduleDeliveryTime: string; validityPeriod: string },
  now: Instant,
): Times | 'unusable' {
  const scheduled = readSmppTime(scheduleDeliveryTime, now)
  const expires = readSmppTime(validityPeriod, now)
  if (scheduled === 'unusable' || expires === 'unusable') return 'unusable'
  if (expires === undefined) return { scheduled, validity: undefined }
  const minutes = Math.ceil((expires - Math.max(now, scheduled ?? now)) / minuteMilliseconds)
  if (minutes < 1) return 'unusable'
  return { scheduled, validity: validityMinutes(Math.min(minutes, validityMinutesMax)) }
}

/**
 * Formats a time for final_date of query_sm_resp (SMPP 3.4, 7.1.1), in UTC.
 */
export const smppTime = (at: Instant): string => `${digitsOf(at).slice(2, 14)}000+`

/** Formats a time as YYMMDDhhmm for a receipt, `offsetMinutes` ahead of UTC. */
export const receiptTime = (at: Instant, offsetMinutes: number): string =>
  digitsOf(at + offsetMinutes * minuteMilliseconds).slice(2, 12)

const digitsOf = (at: number): string => new Date(at).toISOString().replace(/\D/g, '')
