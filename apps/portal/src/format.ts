import { formatCredits, type Credits } from '@gateway/core/credits'
import type { SentCredits } from '@gateway/core/messages'
import { formatDate, formatStamp, formatTime, parseMinute, type Instant } from '@gateway/core/time'

/** A narrow space that no line breaks at. */
const groupSpace = '\u202f'
const monthNames = 'January February March April May June July August September October November December'.split(' ')

const grouped = (digits: string): string => digits.replace(/\B(?=(?:[0-9]{3})+$)/g, groupSpace)

/** `9 800`. */
export const count = (value: number): string => grouped(String(value))

/** `4 812.5`, with a minus sign where it is negative. */
export function amount(value: Credits): string {
  const [whole = '', tenths = ''] = formatCredits(value).split('.')
  return `${whole.startsWith('-') ? '−' : ''}${grouped(whole.replace('-', ''))}.${tenths}`
}

/** The figures of something that was sent, for a page. */
export const creditFigures = ({ charged, returned, net }: SentCredits) =>
  [
    ['Charged', amount(charged)],
    ['Returned', amount(returned)],
    ['Net', amount(net)],
  ] as const

/** The same as columns of a file. */
export const creditHeads = ['Charged', 'Returned', 'Net'] as const
export const creditCells = ({ charged, returned, net }: SentCredits): readonly string[] =>
  [charged, returned, net].map(formatCredits)

/** `one message`, `9 800 messages`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** `25 November 2026`, in gateway time. */
export function day(at: Instant): string {
  const [year = '', month = '', date = ''] = formatDate(at).split('/')
  return `${Number(date)} ${monthNames[Number(month) - 1] ?? ''} ${year}`
}

/** `25 Nov`, in gateway time. */
export function shortDay(at: Instant): string {
  const [date = '', month = ''] = day(at).split(' ')
  return `${date} ${month.slice(0, 3)}`
}

/** `3.1 %` of a share. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)}${groupSpace}%`

/** `14:02` today, `24 November, 14:02` before and after. */
export function when(at: Instant, now: Instant): string {
  const time = formatTime(at).slice(0, 5)
  if (formatDate(at) === formatDate(now)) return time
  const [date, month, year] = day(at).split(' ')
  return formatDate(at).slice(0, 4) === formatDate(now).slice(0, 4)
    ? `${date} ${month}, ${time}`
    : `${date} ${month} ${year}, ${time}`
}

/** `24 November 2025, 14:02`, with the year where a wrong one may be the mistake. */
export const withYear = (at: Instant): string => `${day(at)}, ${formatTime(at).slice(0, 5)}`

/** `2026-11-25T14:02` in gateway time, as browsers write it. */
export const minuteOf = (at: Instant): string => `${formatDate(at).replaceAll('/', '-')}T${formatTime(at).slice(0, 5)}`

/** `25 November 2026, 14:02:11.204`. */
export const exactly = (at: Instant): string => `${day(at)}, ${formatTime(at)}.${formatStamp(at).slice(-3)}`

/** The zone of times in files, as of those on pages; the head of a column names it. */
export const fileZone = 'GMT+2'

/** `2026-11-25 14:02:11` in gateway time, which spreadsheets read as a time. */
export const fileTime = (at: Instant): string => `${formatDate(at).replaceAll('/', '-')} ${formatTime(at)}`

/** For `datetime` of a `<time>`. */
export const iso = (at: Instant): string => new Date(at).toISOString()

export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** The month of a moment: `2026-11`. */
export const monthOf = (at: Instant): string => formatDate(at).slice(0, 7).replace('/', '-')

/** `November 2026`, of `2026-11`. */
export function monthName(month: string): string {
  const [year = '', number = ''] = month.split('-')
  return `${monthNames[Number(number) - 1] ?? ''} ${year}`
}

/** When a month begins, `later` months after it; undefined: it is none. */
export function startOfMonth(month: string, later = 0): Instant | undefined {
  const [, year, number] = /^([0-9]{4})-(0[1-9]|1[0-2])$/.exec(month) ?? []
  if (year === undefined || number === undefined) return undefined
  const months = Number(year) * 12 + Number(number) - 1 + later
  const text = [Math.floor(months / 12), (months % 12) + 1].map((part) => String(part).padStart(2, '0')).join('')
  return parseMinute(`${text.padStart(6, '0')}010000`)
}
