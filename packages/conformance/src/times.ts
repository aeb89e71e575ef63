const offsetMs = 2 * 3_600_000
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** Digits of an instant at GMT+2: `YYYYMMDDhhmmssSSS` (ruling 1.1). */
export const digitsAt = (instant: number): string => new Date(instant + offsetMs).toISOString().replace(/\D/g, '')

/** Returns the time `minutes` from now as `YYYYMMDDHHmm`. */
export const minuteFromNow = (minutes: number): string => digitsAt(Date.now() + minutes * minuteMs).slice(0, 12)

/** Returns a time so far ahead that no message is sent before the suite has deleted it. */
export const farAhead = (): string => digitsAt(Date.now() + 300 * dayMs).slice(0, 12)

interface Jump {
  /** Number of the month, from 0. */
  readonly month: number
  /** Day of the week from 0, which is Sunday. */
  readonly weekday: number
  /** Position of the weekday in the month, from 1; -1 means the last one. */
  readonly which: number
}

/** Days on which the clocks of a zone with summer time jump: Europe, North America, Egypt, Chile, Australia. */
const jumps: readonly Jump[] = [
  { month: 2, weekday: 0, which: -1 },
  { month: 9, weekday: 0, which: -1 },
  { month: 2, weekday: 0, which: 2 },
  { month: 10, weekday: 0, which: 1 },
  { month: 3, weekday: 5, which: -1 },
  { month: 8, weekday: 0, which: 1 },
  { month: 9, weekday: 0, which: 1 },
]

/**
 * Returns minutes `YYYYMMDDHHmm` of the following year that do not exist or occur twice in a zone with summer time, and
 * one in winter and one in summer. At GMT+2 each exists once.
 */
export function minutesOfJumps(now = Date.now()): readonly string[] {
  const year = new Date(now).getUTCFullYear()
  const days = jumps.map((jump) => {
    const [first, next] = [dayOf(jump, year), dayOf(jump, year + 1)]
    return digitsAt(first > now + dayMs ? first : next).slice(0, 8)
  })
  const hours = ['0030', '0130', '0230', '0330']
  return [`${year + 1}01151200`, `${year + 1}07151200`, ...days.flatMap((day) => hours.map((hour) => day + hour))]
}

function dayOf({ month, weekday, which }: Jump, year: number): number {
  const days = Array.from({ length: 31 }, (_, i) => new Date(Date.UTC(year, month, i + 1)))
  const fitting = days.filter((day) => day.getUTCMonth() === month && day.getUTCDay() === weekday)
  return (fitting.at(which === -1 ? -1 : which - 1) ?? new Date(NaN)).getTime()
}

/**
 * Parses digits at GMT+2, with or without seconds and milliseconds, with any separators. Returns NaN for anything else.
 */
export function instantOf(text: string): number {
  const [, year, month, day, hour, minute, second = '00', milliseconds = '000'] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(\d{3})?$/.exec(text.replace(/\D/g, '')) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}+02:00`)
}
