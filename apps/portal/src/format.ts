import { formatCredits, type Credits } from '@gateway/core/credits'
import type { SentCredits } from '@gateway/core/messages'
import { formatDate, formatStamp, formatTime, parseMinute, type Instant } from '@gateway/core/time'

/** Narrow no-break space. */
const groupSpace = '\u202f'
const monthNames = 'January February March April May June July August September October November December'.split(' ')

const grouped = (digits: string): string => digits.replace(/\B(?=(?:[0-9]{3})+$)/g, groupSpace)

/** Formats an integer with grouped digits, such as `9 800`. */
export const count = (value: number): string => grouped(String(value))

/** Formats credits, such as `4 812.5`, with a minus sign if they are negative. */
export function amount(value: Credits): string {
  const [whole = '', tenths = ''] = formatCredits(value).split('.')
  return `${whole.startsWith('-') ? '−' : ''}${grouped(whole.replace('-', ''))}.${tenths}`
}

/** Returns the charged, returned and net credits of a send or message, formatted for a page. */
export const creditFigures = ({ charged, returned, net }: SentCredits) =>
  [
    ['Charged', amount(charged)],
    ['Returned', amount(returned)],
    ['Net', amount(net)],
  ] as const

/** Headings of the three credit columns of a file. */
export const creditHeads = ['Charged', 'Returned', 'Net'] as const
export const creditCells = ({ charged, returned, net }: SentCredits): readonly string[] =>
  [charged, returned, net].map(formatCredits)

/** Formats a number with its noun, such as `1 message` or `9 800 messages`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** Formats a date in gateway time, such as `25 November 2026`. */
export function day(at: Instant): string {
  const [year = '', month = '', date = ''] = formatDate(at).split('/')
  return `${Number(date)} ${monthNames[Number(month) - 1] ?? ''} ${year}`
}

/** Formats a date in gateway time without its year, such as `25 Nov`. */
export function shortDay(at: Instant): string {
  const [date = '', month = ''] = day(at).split(' ')
  return `${date} ${month.slice(0, 3)}`
}

/** Formats a share from 0 to 1, such as `3.1 %`. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)}${groupSpace}%`

/** Formats a moment: `14:02` if it is today, else `24 November, 14:02`. */
export function when(at: Instant, now: Instant): string {
  const time = formatTime(at).slice(0, 5)
  if (formatDate(at) === formatDate(now)) return time
  const [date, month, year] = day(at).split(' ')
  return formatDate(at).slice(0, 4) === formatDate(now).slice(0, 4)
    ? `${date} ${month}, ${time}`
    : `${date} ${month} ${year}, ${time}`
}

/**
 * Formats a moment with its year, such as `24 November 2025, 14:02`, for places where a wrong year may be the mistake.
 */
export const withYear = (at: Instant): string => `${day(at)}, ${formatTime(at).slice(0, 5)}`

/** Formats a moment in gateway time as `datetime-local` inputs do, such as `2026-11-25T14:02`. */
export const minuteOf = (at: Instant): string => `${formatDate(at).replaceAll('/', '-')}T${formatTime(at).slice(0, 5)}`

/** Formats a moment with milliseconds, such as `25 November 2026, 14:02:11.204`. */
export const exactly = (at: Instant): string => `${day(at)}, ${formatTime(at)}.${formatStamp(at).slice(-3)}`

/** Time zone of all times in files and on pages. The heading of a column of times names it. */
export const fileZone = 'GMT+2'

/** Formats a moment in gateway time as spreadsheets recognize it, such as `2026-11-25 14:02:11`. */
export const fileTime = (at: Instant): string => `${formatDate(at).replaceAll('/', '-')} ${formatTime(at)}`

/** Formats a moment in UTC for the `datetime` attribute of a `<time>` element. */
export const iso = (at: Instant): string => new Date(at).toISOString()

export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** Returns the month of a moment, such as `2026-11`. */
export const monthOf = (at: Instant): string => formatDate(at).slice(0, 7).replace('/', '-')

/** Formats a month, such as `November 2026` for `2026-11`. */
export function monthName(month: string): string {
  const [year = '', number = ''] = month.split('-')
  return `${monthNames[Number(number) - 1] ?? ''} ${year}`
}

/**
 * Returns the first moment of the month that is `later` months after `month`, or undefined if `month` is not a month.
 */
export function startOfMonth(month: string, later = 0): Instant | undefined {
  const [, year, number] = /^([0-9]{4})-(0[1-9]|1[0-2])$/.exec(month) ?? []
  if (year === undefined || number === undefined) return undefined
  const months = Number(year) * 12 + Number(number) - 1 + later
  const text = [Math.floor(months / 12), (months % 12) + 1].map((part) => String(part).padStart(2, '0')).join('')
  return parseMinute(`${text.padStart(6, '0')}010000`)
}
