const offsetMs = 2 * 3_600_000
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** Digits of an instant at GMT+2: `YYYYMMDDhhmmssSSS` (ruling 1.1). */
export const digitsAt = (instant: number): string => new Date(instant + offsetMs).toISOString().replace(/\D/g, '')

/** `YYYYMMDDHHmm` so many minutes from now. */
export const minuteFromNow = (minutes: number): string => digitsAt(Date.now() + minutes * minuteMs).slice(0, 12)

/** A time so far ahead that no message leaves before the suite has deleted it. */
export const farAhead = (): string => digitsAt(Date.now() + 300 * dayMs).slice(0, 12)

/**
 * The instant of digits at GMT+2, with or without seconds and milliseconds, in any separation; NaN if they are none.
 */
export function instantOf(text: string): number {
  const [, year, month, day, hour, minute, second = '00', milliseconds = '000'] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(\d{3})?$/.exec(text.replace(/\D/g, '')) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}+02:00`)
}
