import { instant, type Instant } from './instant.ts'

// Every interface reads and writes +02:00, all year, whatever zone the process is in (ruling 1.1): only UTC getters and
// setters are used here, on a date that has been moved by the offset.
const offsetHours = 2
const offsetMilliseconds = offsetHours * 3_600_000

const minutePattern = /^([0-9]{4})([0-9]{2})([0-9]{2})([01][0-9]|2[0-3])([0-5][0-9])$/

/**
 * Reads `CCYYMMDDHHmm` in gateway time (spec 2): exactly 12 ASCII digits, nothing around them, a date of the calendar (no 30
 * February), 00:00 to 23:59, years 0001 to 9999. `undefined` for everything else. Whether the moment is past is not judged.
 */
export function parseMinute(text: string): Instant | undefined {
  const fields = minutePattern.exec(text)
  if (fields === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = fields.slice(1).map(Number)
  if (year === 0) return undefined
  // Not Date.UTC: it takes the years 0 to 99 for 1900 to 1999.
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  // Days 0 and 29 to 99 that a month does not have end up in another one.
  if (date.getUTCMonth() !== month - 1) return undefined
  return instant(date.setUTCHours(hour, minute) - offsetMilliseconds)
}

/** `2026-10-18T18:24:05.123`: the 23 characters that the formats below are cut from. */
const wallClock = (at: Instant): string => new Date(at + offsetMilliseconds).toISOString().slice(0, 23)

/** `202610181824`: CCYYMMDDHHmm in gateway time, cut to the minute. */
export function formatMinute(at: Instant): string {
  const minute = Math.floor(at / 60_000)
  if (minute !== lastMinute.minute) {
    lastMinute = { minute, text: wallClock(at).slice(0, 16).replace(/[-T:]/g, '') }
  }
  return lastMinute.text
}

// Those that an answer holds are mostly alike: 0.01 µs for the same minute again, 0.75 for another one.
let lastMinute = { minute: NaN, text: '' }

/** `20261018182405123`: 17 digits YYYYMMDDhhmmssSSS in gateway time (ruling 2.1). */
export const formatStamp = (at: Instant): string => wallClock(at).replace(/[-T:.]/g, '')

/** `2026/10/18`: CCYY/MM/DD in gateway time (spec 4.2, rule 3). */
export const formatDate = (at: Instant): string => wallClock(at).slice(0, 10).replaceAll('-', '/')

/** `18:24:05`: HH:mm:ss in gateway time (spec 4.2, rule 3). */
export const formatTime = (at: Instant): string => wallClock(at).slice(11, 19)
